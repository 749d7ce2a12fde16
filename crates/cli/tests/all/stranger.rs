//! What someone meets who types what the documentation says, and makes mistakes.

use crate::binary::{assert_failed, freeboard, signal, start};
use crate::refusing::refuse_everything;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

const POLICY: &str = "version: 1
database: d
collections:
  c: { arrays: { a: { max: 2, on_limit: overflow } } }
";

fn stop(mut child: Child) {
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

/// Imports lines of JSON.
fn import(uri: &str, namespace: &str, lines: &str) {
    let arguments = ["import", uri, namespace, "-", "--format", "ndjson"];
    let mut import = freeboard().args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = import.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn said(output: Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr
}

#[test]
fn a_server_that_is_not_there_is_said_at_once() {
    let place = tempfile::tempdir().unwrap();
    let policy = place.path().join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let policy = policy.to_str().unwrap();
    let file = place.path().join("c.ndjson");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for uri in ["mongodb://127.0.0.1:1", "mongodb://127.0.0.1:1,127.0.0.1:2/?retryWrites=true"] {
        for arguments in [
            &["apply", uri, policy][..],
            &["audit", uri],
            &["backup", uri, "monday"],
            &["bench", "--uri", uri, "--no-own"],
            &["demo", "load", uri],
            &["export", uri, "d.c", file],
            &["import", uri, "d.c", file],
            &["migrate", uri, "--policy", policy],
            &["verify", uri],
        ] {
            let started = Instant::now();
            let output = freeboard().args(arguments).output().unwrap();
            assert_failed(&output, "no server answers at 127.0.0.1:1");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains("refused") && stderr.contains("check the address"), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
            assert!(started.elapsed() < Duration::from_secs(5), "{arguments:?}");
        }
    }
}

/// MongoDB knows none of the commands about growth policies, and neither does DocumentDB.
#[test]
fn a_server_without_growth_policies_is_said() {
    let place = tempfile::tempdir().unwrap();
    let policy = place.path().join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let policy = policy.to_str().unwrap();
    for (code, message) in [
        (59, "no such command: 'getGrowthPolicy'"),
        (115, "Unknown request received: getGrowthPolicy"),
    ] {
        let address = refuse_everything(code, message);
        let uri = &*format!("mongodb://{address}/");
        for arguments in [
            &["apply", uri, policy][..],
            &["apply", uri, policy, "--dry-run"],
            &["migrate", uri, "--policy", policy],
            &["migrate", uri, "--policy", policy, "--undo"],
            &["migrate", uri, "--undo", "--collection", "d.c"],
        ] {
            let output = freeboard().args(arguments).output().unwrap();
            assert_failed(&output, "this server keeps no growth policies, only Freeboard does");
        }
    }
}

#[test]
fn what_the_user_may_not_do_is_said() {
    let address = refuse_everything(13, "not authorized on d to execute command");
    let uri = &*format!("mongodb://{address}/");
    for arguments in [&["audit", uri][..], &["verify", uri], &["export", uri, "d.c", "c.bson"]] {
        let output = freeboard().args(arguments).output().unwrap();
        assert_failed(&output, "name a user who may do this in the URI");
    }
}

#[test]
fn a_uri_that_is_none_is_said_in_a_sentence() {
    for arguments in [&["bench", "--uri", "localhost", "--no-own"][..], &["verify", "localhost"]] {
        let output = freeboard().args(arguments).output().unwrap();
        assert_failed(&output, "this is no URI of a server, such as mongodb://host:27017");
    }
    for arguments in [&["verify"][..], &["audit"], &["bench", "--no-own", "--uri"]] {
        let output = freeboard().args(arguments).arg("mongodb+srv://host.example/").output();
        assert_failed(&output.unwrap(), "mongodb+srv:// is not supported; name the hosts");
    }
}

#[test]
fn the_uri_may_come_from_the_environment() {
    let place = tempfile::tempdir().unwrap();
    let policy = place.path().join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let policy = policy.to_str().unwrap();
    let (child, address) = start(&place.path().join("store"));
    let uri = format!("mongodb://{address}/");
    import(&uri, "d.c", "{\"_id\": 1}\n");
    let with = |variable: &str, arguments: &[&str]| {
        let mut command = freeboard();
        command.env("FREEBOARD_URI", variable).args(arguments);
        command.output().unwrap()
    };
    for arguments in [
        &["apply", policy][..],
        &["migrate", "--policy", policy],
        &["verify"],
        &["audit"],
        &["export", "d.c", "-", "--format", "ndjson"],
        &["demo", "load", "--scenario", "sensors", "--size", "20"],
    ] {
        said(with(&uri, arguments));
    }
    // What is typed comes first.
    said(with("mongodb://127.0.0.1:1", &["apply", &uri, policy]));
    said(with("mongodb://127.0.0.1:1", &["verify", &uri]));
    let help = said(with("mongodb://ann:secret@host/", &["apply", "--help"]));
    assert!(!help.contains("secret"), "{help}");
    stop(child);
}

#[test]
fn variables_of_one_command_do_not_break_another() {
    let place = tempfile::tempdir().unwrap();
    let (child, address) = start(&place.path().join("store"));
    let uri = format!("mongodb://{address}/");
    import(&uri, "d.c", "{\"_id\": 1}\n{\"_id\": 3}\n");
    let with = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = freeboard();
        command.envs(variables.iter().copied()).args(arguments);
        said(command.output().unwrap())
    };
    let export = ["export", &uri, "d.c", "-", "--format", "ndjson"];
    with(&[("FREEBOARD_FORMAT", "html")], &export);
    let html = with(
        &[("FREEBOARD_FORMAT", "html"), ("FREEBOARD_SAMPLE", "5")],
        &["audit", &uri, "--full"],
    );
    assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
    // What is typed comes first, and what is empty is not set.
    let sample = with(&[("FREEBOARD_FULL", "1")], &["audit", &uri, "--sample=1", "--db", "d"]);
    assert!(sample.starts_with("A sample was looked at: 1 of 2 documents"), "{sample}");
    let undo = ["migrate", &uri, "--undo", "--collection", "d.c"];
    let undone = with(&[("FREEBOARD_POLICY", "missing.yaml")], &undo);
    assert!(undone.contains("d.c: no growth policy, nothing to undo"), "{undone}");
    let empty = ["URI", "DB", "FULL", "SAMPLE", "BUDGET", "TARGET", "OUTPUT", "FAIL_ON", "FORMAT"];
    let empty = empty.map(|name| format!("FREEBOARD_{name}"));
    let empty: Vec<(&str, &str)> = empty.iter().map(|name| (&**name, "")).collect();
    let all = with(&empty, &["audit", &uri]);
    assert!(all.starts_with("All was looked at: 2 documents."), "{all}");
    // A database that is audited is none for made-up data.
    let sensors = ["demo", "load", &uri, "--scenario", "sensors", "--size", "20"];
    assert!(with(&[("FREEBOARD_DB", "d")], &sensors).contains("collections of demo"));
    // What throws something away is typed, or not done.
    let file = place.path().join("more.ndjson");
    std::fs::write(&file, "{\"_id\": 2}\n").unwrap();
    let drop = [("FREEBOARD_DROP", "1"), ("FREEBOARD_REPAIR", "1"), ("FREEBOARD_RESUME", "1")];
    with(&drop, &["import", &uri, "d.c", file.to_str().unwrap()]);
    assert_eq!(with(&[], &export).matches("_id").count(), 3);
    // A policy that is asked for is looked for; both cannot be typed.
    let import = ["import", &uri, "d.c", file.to_str().unwrap(), "--with-policy"];
    let mut alone = freeboard();
    alone.env("FREEBOARD_DOCUMENTS_ONLY", "1").args(import);
    assert_failed(&alone.output().unwrap(), "there is no growth policy beside");
    let both = freeboard().args(import).arg("--documents-only").output().unwrap();
    assert_failed(&both, "cannot be used with");
    let mut again = freeboard();
    again.envs(drop).args(sensors);
    assert_failed(&again.output().unwrap(), "has documents already; --drop replaces them");
    stop(child);
}

#[test]
fn an_export_typed_back_keeps_indexes() {
    let place = tempfile::tempdir().unwrap();
    let (child, address) = start(&place.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let demo = ["demo", "load", &uri, "--scenario", "social", "--size", "20"];
    said(freeboard().args(demo).output().unwrap());
    let file = place.path().join("users.ndjson");
    let file = file.to_str().unwrap();
    let exported = said(freeboard().args(["export", &uri, "demo.users", file]).output().unwrap());
    assert!(exported.contains("indexes are in ") && exported.contains("users.metadata.json"));
    let import = ["import", &uri, "demo.users", file, "--drop"];
    let imported = said(freeboard().args(import).output().unwrap());
    assert!(imported.contains("demo.users: indexes made: "), "{imported}");
    let output = freeboard().args(["export", &uri, "demo.user", file]).output().unwrap();
    assert_failed(&output, "there is no collection demo.user, so nothing was exported");
    stop(child);
}

#[test]
fn what_apply_sets_is_said() {
    let place = tempfile::tempdir().unwrap();
    let policy = place.path().join("policy.yaml");
    std::fs::write(&policy, POLICY).unwrap();
    let policy = policy.to_str().unwrap();
    let (child, address) = start(&place.path().join("store"));
    let uri = format!("mongodb://{address}/");
    import(&uri, "d.c", "{\"_id\": 1, \"a\": [1, 2, 3]}\n");
    let dry = said(freeboard().args(["apply", &uri, policy, "--dry-run"]).output().unwrap());
    assert!(!dry.contains(": set"), "{dry}");
    let set = said(freeboard().args(["apply", &uri, policy]).output().unwrap());
    assert!(set.contains("d.c: set, version 1\n"), "{set}");
    assert!(set.contains("'freeboard migrate', or the next write, brings arrays"), "{set}");
    // As it says, what is over grows, and is split by that.
    let again = said(freeboard().args(["apply", &uri, policy]).output().unwrap());
    assert_eq!(again, "d.c: unchanged\n");
    stop(child);
}

#[test]
fn inspect_says_what_it_takes() {
    let inspect = |directory: &Path, more: &[&str]| {
        freeboard().arg("inspect").arg(directory).args(more).output().unwrap()
    };
    let place = tempfile::tempdir().unwrap();
    let store = place.path().join("store");
    let (child, address) = start(&store);
    import(&format!("mongodb://{address}/"), "d.c", "{\"_id\": 1}\n");
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let missing = place.path().join("missing");
    for (directory, words) in [
        (&*store, "in use by another process"),
        (&*empty, "the directory is empty"),
        (&*missing, "there is no such directory"),
        (place.path(), "holds no Freeboard store"),
    ] {
        let output = inspect(directory, &[]);
        assert_failed(&output, words);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("--data"));
    }
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0, "a store was made");
    stop(child);
    assert!(said(inspect(&store, &["--namespace", "d.c"])).contains("d.c (id "));
    assert_failed(&inspect(&store, &["--namespace", "d.x"]), "the store holds no collection d.x");
}

#[test]
fn ctrl_c_is_announced() {
    let place = tempfile::tempdir().unwrap();
    let (child, address) = start(&place.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let arguments = ["import", &uri, "d.c", "-", "--format", "ndjson"];
    let mut import = freeboard().args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = import.stdin.take().unwrap();
    let lines: String = (0..1_500).map(|id| format!("{{\"_id\": {id}}}\n")).collect();
    stdin.write_all(lines.as_bytes()).unwrap();
    let export = ["export", &uri, "d.c", "-", "--format", "ndjson"];
    while freeboard().args(export).output().unwrap().stdout.is_empty() {}
    signal(&import, "INT");
    let mut stderr = BufReader::new(import.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let words = "freeboard: stopping after the batches under way; Ctrl-C again ends it at once\n";
    assert_eq!(line, words);
    drop(stdin);
    stderr.read_to_string(&mut line).unwrap();
    assert_eq!(import.wait().unwrap().code(), Some(2), "{line}");
    stop(child);
}
