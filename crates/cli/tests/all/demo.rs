//! `freeboard demo`.

use crate::binary::{assert_failed, freeboard, signal, start};
use std::process::Output;

fn load(address: &str, more: &[&str]) -> Output {
    let uri = format!("mongodb://{address}/");
    freeboard().args(["demo", "load", &uri]).args(more).output().unwrap()
}

#[test]
fn scenarios_are_loaded_and_data_is_not_overwritten() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let size = ["--size", "50", "--scenario", "shop,tenants"];
    let output = load(&address, &size);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.starts_with("100 documents ("), "{stderr}");
    assert!(stderr.ends_with("in 9 collections of demo\n"), "{stderr}");
    assert_failed(&load(&address, &size), "has documents already; --drop replaces them");
    assert!(load(&address, &[&size[..], &["--drop"]].concat()).status.success());

    // The same seed gives the same bytes.
    let exported = |db: &str| {
        let namespace = format!("{db}.products");
        let uri = format!("mongodb://{address}/");
        let export = ["export", &uri, &namespace, "-", "--format", "bson"];
        freeboard().args(export).output().unwrap().stdout
    };
    assert!(load(&address, &[&size[..], &["--db", "other"]].concat()).status.success());
    assert!(
        load(&address, &[&size[..], &["--db", "third", "--seed", "2"]].concat()).status.success()
    );
    assert!(!exported("demo").is_empty());
    assert_eq!(exported("demo"), exported("other"));
    assert_ne!(exported("demo"), exported("third"));
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_use_is_said_in_a_sentence() {
    let nobody = "127.0.0.1:1/?serverSelectionTimeoutMS=100";
    assert_failed(&load(nobody, &["--scenario", "opera"]), "there are events, sensors, sharding");
    assert_failed(&load(nobody, &["--size", "9"]), "9 is not in 10..=1000000000");
    assert_failed(&load(nobody, &["--now", "yesterday"]), "give a date as 2026-04-15");
    let nobody = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    let output = freeboard().args(["demo", "load", nobody]).output().unwrap();
    assert_failed(&output, "no server answers");
}

#[test]
fn an_interrupt_ends_it_with_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/");
    let more = ["--size", "1000000000", "--scenario", "sensors"];
    let load = freeboard().args(["demo", "load", &uri]).args(more).spawn().unwrap();
    let export = ["export", &uri, "demo.devices", "-", "--format", "ndjson"];
    while freeboard().args(export).output().unwrap().stdout.is_empty() {}
    signal(&load, "INT");
    let output = load.wait_with_output().unwrap();
    assert_failed(&output, "interrupted; the same command with --resume goes on");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn scenarios_are_listed() {
    let output = freeboard().args(["demo", "list"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(stdout.contains("\n  social    A feed whose users"), "{stdout}");
}
