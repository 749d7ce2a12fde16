//! `freeboard audit` from the command line.

use crate::binary::{assert_failed, freeboard, signal, start};
use std::io::Write;
use std::process::{Child, Output, Stdio};
use tempfile::TempDir;

/// A server with users, one of whom has done very much.
fn serve(directory: &TempDir, activities: usize) -> (Child, String) {
    let (child, address) = start(&directory.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let items = |length: usize| vec!["\"like\""; length].join(",");
    let mut import = freeboard()
        .args(["import", &uri, "shop.users", "-", "--format", "ndjson"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = import.stdin.take().unwrap();
    for id in 0..50 {
        let length = if id == 7 { activities } else { 3 };
        writeln!(stdin, "{{\"_id\": {id}, \"activities\": [{}]}}", items(length)).unwrap();
    }
    drop(stdin);
    assert!(import.wait_with_output().unwrap().status.success());
    (child, uri)
}

fn audit(arguments: &[&str]) -> Output {
    freeboard().arg("audit").args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn findings_have_an_exit_code_and_reports_a_difference() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, uri) = serve(&directory, 1_500);
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let output = audit(&[&uri]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report = text(&output);
    assert!(report.contains("WARN      unbounded_array  shop.users  activities"), "{report}");
    assert!(report.contains("on_limit: overflow") && report.contains("Checklist"), "{report}");
    assert_eq!(audit(&[&uri, "--fail-on", "warn"]).status.code(), Some(1));
    assert_eq!(audit(&[&uri, "--fail-on", "critical"]).status.code(), Some(0));

    let old = path("old.json");
    let output = audit(&[&uri, "--db", "shop", "--full", "--format", "json", "-o", &old]);
    assert!(output.status.success() && output.stdout.is_empty());
    let json = std::fs::read_to_string(&old).unwrap();
    assert!(json.starts_with("{\n  \"version\": 1,\n  \"target\": {"), "{json}");

    let thresholds = path("thresholds.yaml");
    std::fs::write(
        &thresholds,
        "unbounded_array: { warn_elements: 5000, growing_elements: 5000 }\n",
    )
    .unwrap();
    let new = path("new.json");
    let more = ["--thresholds", &thresholds, "--format", "json", "-o", &new];
    let output = audit(&[&[&*uri], &more[..]].concat());
    assert!(output.status.success());
    let output = audit(&["diff", &old, &new]);
    let difference = text(&output);
    assert!(difference.contains("Gone") && difference.contains("unbounded_array"), "{difference}");
    assert!(text(&audit(&["diff", &old, &old])).contains("Nothing changed"));

    let page = text(&audit(&[&uri, "--format", "html"]));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
    std::fs::write(&thresholds, "unbounded: {}\n").unwrap();
    assert_failed(&audit(&[&uri, "--thresholds", &thresholds]), "unbounded");
    assert_failed(&audit(&["diff", &old, &thresholds]), "is no report of freeboard audit");
    let wrong = uri.replace("mongodb://", "mongodb://ann:secret@");
    assert_failed(&audit(&[&wrong]), "the server refused the user name or password");
    signal(&child, "TERM");
    child.wait().unwrap();
}

#[test]
fn wrong_use_is_said_in_a_sentence() {
    assert_failed(&audit(&["http://x"]), "this is no URI of a server");
    let nobody = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    assert_failed(&audit(&[nobody]), "no server answers");
    assert_failed(&audit(&[nobody, "--budget", "soon"]), "such as 60s, 25% or 5m,50%");
    assert_failed(&audit(&[nobody, "--sample", "0"]), "--sample");
}
