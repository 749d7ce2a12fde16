//! `freeboard audit` from the command line.

use crate::binary::{assert_failed, freeboard, signal, start};
use crate::refusing::refuse_everything;
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
    assert!(json.starts_with("{\n  \"version\": 1,\n  \"looked_at\": {"), "{json}");
    assert!(json.contains("\"sentence\": \"All was looked at: 50 documents.\""), "{json}");

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

/// An exit code of 0 means that all was looked at.
#[test]
fn what_could_not_be_looked_at_is_no_success() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, uri) = serve(&directory, 3);
    let code = |arguments: &[&str]| {
        let output = audit(arguments);
        (output.status.code(), text(&output), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (exit, report, _) = code(&[&uri, "--fail-on", "info"]);
    assert_eq!(exit, Some(0), "{report}");
    assert!(report.starts_with("All was looked at: 50 documents.\n"), "{report}");

    // A database that is not there.
    for more in [&[][..], &["--fail-on", "critical"]] {
        let (exit, report, error) = code(&[&[&*uri, "--db", "shp"], more].concat());
        assert_eq!(exit, Some(2), "{report}");
        assert!(
            report.starts_with("Nothing was looked at: there is no database 'shp'."),
            "{report}"
        );
        assert!(error.contains("there is no database 'shp'"), "{error}");
    }

    // Less time than it takes, and an interrupt.
    let (exit, report, _) = code(&[&uri, "--budget", "1ms", "--fail-on", "critical"]);
    assert_eq!(exit, Some(2), "{report}");
    let mut slow = freeboard();
    let slow = slow.args(["audit", &uri, "--budget", "1h,0.0001%", "--fail-on", "critical"]);
    let waiting = slow.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(&waiting, "INT");
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("interrupted"), "{}", text(&output));
    signal(&child, "TERM");
    child.wait().unwrap();

    // A server that takes no command.
    let address = refuse_everything(8000, "no");
    let (exit, _, error) = code(&[&format!("mongodb://{address}/"), "--fail-on", "critical"]);
    assert_eq!(exit, Some(2));
    assert!(error.contains("the databases cannot be listed"), "{error}");
    let named = format!("mongodb://{address}/shop");
    let (exit, report, _) = code(&[&named, "--fail-on", "critical", "--format", "json"]);
    assert_eq!(exit, Some(2));
    assert!(report.contains("\"extent\": \"nothing\""), "{report}");
}

/// What the report proposes as policies is one file, and the server takes it.
#[test]
fn policies_are_written_as_a_file_that_apply_takes() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, uri) = serve(&directory, 1_500);
    let file = directory.path().join("policy.yaml").to_str().unwrap().to_owned();
    let output = audit(&[&uri, "--policy-out", &file]);
    assert!(output.status.success());
    let policies = std::fs::read_to_string(&file).unwrap();
    assert!(policies.starts_with("version: 1\ndatabase: shop\ncollections:\n"), "{policies}");
    let apply = freeboard().args(["apply", &uri, &file]).output().unwrap();
    assert!(apply.status.success(), "{}", String::from_utf8_lossy(&apply.stderr));
    // What is cured is neither found nor proposed again.
    std::fs::remove_file(&file).unwrap();
    let output = audit(&[&uri, "--policy-out", &file, "--fail-on", "info"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(!std::path::Path::new(&file).exists());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no cure is a policy"));
    signal(&child, "TERM");
    child.wait().unwrap();
}

#[test]
fn wrong_use_is_said_in_a_sentence() {
    // Files are looked at before the server is.
    let nobody = "mongodb://127.0.0.1:1";
    let place = tempfile::tempdir().unwrap();
    let there = place.path().to_str().unwrap();
    for (flag, said) in [("-o", "the report"), ("--policy-out", "the policies")] {
        let missing = format!("{there}/missing/file");
        for file in [there, &missing] {
            let output = audit(&[nobody, flag, file]);
            assert_failed(&output, &format!("{said} cannot be written to {file}: "));
        }
    }
    assert_failed(&audit(&[nobody, "--thresholds", "missing"]), "missing: No such file");
    assert_failed(&audit(&["diff", "missing", "missing"]), "check its name and who may read it");
    let thresholds = place.path().join("thresholds.yaml");
    std::fs::write(&thresholds, "unbounded_array: { warn: 1 }\n").unwrap();
    let output = audit(&[nobody, "--thresholds", thresholds.to_str().unwrap()]);
    assert_failed(&output, "thresholds.yaml: line 1 column 20: unknown field `warn`, expected one");
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
    assert_failed(&audit(&["http://x"]), "this is no URI of a server");
    let nobody = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    assert_failed(&audit(&[nobody]), "no server answers");
    assert_failed(&audit(&[nobody, "--budget", "soon"]), "such as 60s, 25% or 5m,50%");
    assert_failed(&audit(&[nobody, "--sample", "0"]), "--sample");
}
