//! Export, import and backup from the command line.

use crate::binary::{assert_failed, freeboard, signal, start};
use std::io::Write;
use std::process::Stdio;

#[test]
fn documents_go_out_and_in_and_the_store_is_copied() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
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

    let copy = data.path().join("copy");
    let output = freeboard().args(["backup", &uri]).arg(&copy).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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

#[test]
fn no_server_is_said_in_a_sentence() {
    let uri = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    let output = freeboard().args(["export", uri, "d.c", "x.ndjson"]).output().unwrap();
    assert_failed(&output, "no server answers");
}
