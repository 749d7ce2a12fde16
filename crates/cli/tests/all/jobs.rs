//! Export, import and backup from the command line.

use crate::binary::{assert_failed, freeboard, signal, start, start_with};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn documents_go_out_and_in_and_the_store_is_copied() {
    let data = tempfile::tempdir().unwrap();
    let backups = data.path().join("backups");
    let arguments = ["--backups", backups.to_str().unwrap()];
    let (mut child, address) = start_with(&data.path().join("store"), &arguments);
    let uri = format!("mongodb://{address}/");
    let mut import = freeboard()
        .args(["import", &uri, "d.c", "-", "--format", "ndjson"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import.stdin.take().unwrap().write_all(b"{\"_id\": 1}\nnonsense\n{\"_id\": 2}\n").unwrap();
    let output = import.wait_with_output().unwrap();
    assert_failed(&output, "freeboard: line 2: column 1: expected a value");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.ends_with("2 documents imported into d.c, 1 failed\n"), "{stderr}");

    let output =
        freeboard().args(["export", &uri, "d.c", "-", "--format", "ndjson"]).output().unwrap();
    assert!(output.status.success());
    let expected = "{\"_id\":{\"$numberInt\":\"1\"}}\n{\"_id\":{\"$numberInt\":\"2\"}}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);

    let copy = backups.join("monday");
    let output = freeboard().args(["backup", &uri, "monday"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_private(data.path().join("store").as_path());
    assert_private(&backups);
    let output = freeboard().args(["backup", &uri]).arg(&copy).output().unwrap();
    assert_failed(&output, "is not empty");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());

    let (mut child, address) = start(&copy);
    let uri = format!("mongodb://{address}/");
    let output =
        freeboard().args(["export", &uri, "d.c", "-", "--format", "ndjson"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

/// Nobody but the server's user may look into it.
fn assert_private(path: &Path) {
    let file = std::fs::metadata(path).unwrap();
    assert_eq!(file.permissions().mode() & 0o077, 0, "{}", path.display());
    if file.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            assert_private(&entry.unwrap().path());
        }
    }
}

/// What is read ahead of a pipe is gone.
#[test]
fn a_collection_is_replaced_from_a_pipe_whole() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let pipe = data.path().join("pipe.ndjson");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // More than the pipe and the reader's buffer hold, so that it comes in several reads.
    let line = |id: i32| format!("{{\"_id\": {id}, \"text\": \"{}\"}}\n", "x".repeat(1_000));
    let lines: String = (0..3_000).map(line).collect();
    for round in 0..2 {
        let import = ["import", &uri, "d.c", "--drop"];
        let importing = freeboard().args(import).arg(&pipe).stderr(Stdio::piped()).spawn();
        std::fs::write(&pipe, &lines).unwrap();
        let output = importing.unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert!(stderr.ends_with("3000 documents imported into d.c, 0 failed\n"), "{stderr}");
        // The first time there is nothing to drop.
        assert_eq!(stderr.contains("it can be read only once"), round == 1, "{stderr}");
    }
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_import_that_is_interrupted_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let import = ["import", &uri, "d.c", "-", "--format", "ndjson"];
    let mut first = freeboard().args(import).stdin(Stdio::piped()).spawn().unwrap();
    // More than a batch, so that something is imported while it waits for the rest.
    let lines: String = (0..1_500).map(|id| format!("{{\"_id\": {id}}}\n")).collect();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    let exported = || {
        let export = ["export", &uri, "d.c", "-", "--format", "ndjson"];
        String::from_utf8(freeboard().args(export).output().unwrap().stdout).unwrap()
    };
    while exported().is_empty() {}
    signal(&first, "INT");
    let output = first.wait_with_output().unwrap();
    assert_failed(&output, "1000 documents imported into d.c, 0 failed");
    assert_failed(&output, "run it again with --existing skip");
    drop(stdin);

    let file = data.path().join("all.ndjson");
    std::fs::write(&file, &lines).unwrap();
    let file = file.to_str().unwrap();
    let again = freeboard().args(["import", &uri, "d.c", file]).output().unwrap();
    assert_failed(&again, "500 documents imported into d.c, 1000 failed");
    let again = freeboard().args(["import", &uri, "d.c", file, "--existing", "skip"]).output();
    let again = again.unwrap();
    let stderr = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{stderr}");
    assert_eq!(stderr, "0 documents imported into d.c, 1500 were there already, 0 failed\n");
    assert_eq!(exported().lines().count(), 1_500);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_growth_policy_goes_along_where_it_is_asked_for() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let [policy, file, list] =
        ["p.yaml", "c.ndjson", "list.json"].map(|name| data.path().join(name));
    let text = "version: 1\ndatabase: d\ncollections:\n  c:\n    arrays:\n      a: { max: 2, on_limit: overflow }\n";
    std::fs::write(&policy, text).unwrap();
    let run = |arguments: &[&str], last: &Path| {
        freeboard().arg(arguments[0]).arg(&uri).args(&arguments[1..]).arg(last).output().unwrap()
    };
    assert!(run(&["apply"], &policy).status.success());
    std::fs::write(&list, "[{\"_id\": 1}]\n").unwrap();
    let output = run(&["import", "d.c"], &list);
    assert_failed(&output, "this looks like a JSON array");
    std::fs::write(&file, "{\"_id\": 1, \"a\": [1, 2, 3]}\n").unwrap();
    assert!(run(&["import", "d.c"], &file).status.success());
    assert!(run(&["export", "d.c"], &file).status.success());
    let output = run(&["import", "e.c"], &file);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("was not set; --with-policy sets it"), "{stderr}");
    let output = run(&["import", "--with-policy", "f.c"], &file);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("f.c: growth policy set"), "{stderr}");
    let output = run(&["export", "f.c_a", "--format", "ndjson"], Path::new("-"));
    let pages = String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!(pages, 1);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

/// A document that comes in parts is there whole or not at all.
#[test]
fn an_interrupted_import_leaves_no_part_of_a_document() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let policy = data.path().join("p.yaml");
    let text = "version: 1\ndatabase: d\ncollections:\n  c:\n    arrays:\n      a: { max: 2, on_limit: overflow }\n";
    std::fs::write(&policy, text).unwrap();
    assert!(freeboard().args(["apply", &uri]).arg(&policy).output().unwrap().status.success());
    let exported = |name: &str| {
        let export = ["export", &uri, name, "-", "--format", "ndjson"];
        String::from_utf8(freeboard().args(export).output().unwrap().stdout).unwrap()
    };
    let first =
        "{\"$freeboard\": {\"partial\": {\"_id\": 1, \"a\": [1, 2]}, \"arrays\": {\"a\": 9}}}\n";
    let next =
        "{\"$freeboard\": {\"append\": \"a\", \"_id\": 1, \"at\": 2, \"elements\": [3, 4, 5]}}\n";
    let last = "{\"$freeboard\": {\"append\": \"a\", \"_id\": 1, \"at\": 5, \"elements\": [6, 7, 8, 9]}}\n";
    let import = ["import", &uri, "d.c", "-", "--format", "ndjson"];
    for signalled in ["INT", "KILL"] {
        let mut importing =
            freeboard().args(import).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = importing.stdin.take().unwrap();
        stdin.write_all(format!("{first}{next}").as_bytes()).unwrap();
        while exported("d.c_a").is_empty() {}
        signal(&importing, signalled);
        let output = importing.wait_with_output().unwrap();
        drop(stdin);
        if signalled == "INT" {
            assert_failed(&output, "0 documents imported into d.c, 0 failed");
            assert_eq!((exported("d.c"), exported("d.c_a")), (String::new(), String::new()));
        }
    }
    // What a killed import has left is not taken for the whole.
    let file = data.path().join("all.ndjson");
    std::fs::write(&file, format!("{first}{next}{last}")).unwrap();
    let skip = || {
        let import = ["import", &uri, "d.c", "--existing", "skip"];
        freeboard().args(import).arg(&file).output().unwrap()
    };
    assert_failed(&skip(), "document 1 has 5 of the 9 elements of 'a' in d.c; delete it");
    let file = data.path().join("all.ndjson");
    let file = file.to_str().unwrap();
    let again = freeboard().args(["import", &uri, "d.c", file, "--drop"]).output().unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(skip().status.success());
    assert_eq!(exported("d.c").matches("$numberInt").count(), 10);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn no_server_is_said_in_a_sentence() {
    let uri = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    let output = freeboard().args(["export", uri, "d.c", "x.ndjson"]).output().unwrap();
    assert_failed(&output, "no server answers");
}
