//! `freeboard apply` and `freeboard serve --policy`.

use crate::binary::{assert_failed, freeboard, signal, start, start_with};
use std::path::Path;
use std::process::Output;

const POLICY: &str = "version: 1
database: shop
collections:
  users:
    document: { warn_bytes: 1MB, max_bytes: 8MB }
    arrays:
      activities: { max: 1000, on_limit: overflow, overflow: { into: user_activities } }
";

fn apply(address: &str, file: &Path, more: &[&str]) -> Output {
    let uri = format!("mongodb://{address}/?directConnection=true");
    freeboard().arg("apply").arg(uri).arg(file).args(more).output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_file_is_checked_shown_and_set() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("policy.yaml");
    std::fs::write(&file, POLICY).unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let dry = said(&apply(&address, &file, &["--dry-run"]));
    assert!(dry.contains("shop.users: new") && dry.contains("+ arrays.activities.max: 1000"));
    assert!(dry.contains("nothing was changed"));
    assert!(said(&apply(&address, &file, &[])).contains("shop.users: new"));
    assert_eq!(said(&apply(&address, &file, &[])), "shop.users: unchanged\n");
    std::fs::write(&file, POLICY.replace("1000", "2000")).unwrap();
    let changed = said(&apply(&address, &file, &[]));
    assert!(changed.contains("~ arrays.activities.max: 1000 -> 2000"), "{changed}");
    std::fs::write(&file, POLICY.replace("users:", "people:").replace("max: 1000", "max: 0"))
        .unwrap();
    let words = "'arrays.activities.max' must be a whole number above 0, but is 0";
    assert_failed(&apply(&address, &file, &[]), words);
    let json = r#"{"version": 1, "database": "shop", "collections": {"people": {"arrays":
        {"a": {"max": 1, "on_limit": "overflow", "overflow": {"into": "user_activities"}}}}}}"#;
    std::fs::write(&file, json).unwrap();
    assert_failed(&apply(&address, &file, &[]), "holds the pages of 'shop.users'");
    assert_failed(&apply(&address, &data.path().join("none"), &[]), "cannot be read");
    // One policy of the file is refused by the server: none is set.
    let more = "  first: { arrays: { a: { max: 1 } } }\n  user_activities: { arrays: { a: { max: 1 } } }\n";
    std::fs::write(&file, format!("version: 1\ndatabase: shop\ncollections:\n{more}")).unwrap();
    for flags in [&["--dry-run"][..], &[]] {
        let output = apply(&address, &file, flags);
        assert_failed(&output, "'shop.user_activities' holds the pages of 'shop.users'");
        let output = apply(&address, &file, flags);
        assert!(String::from_utf8_lossy(&output.stdout).contains("shop.first: new"));
    }
    signal(&child, "TERM");
    child.wait().unwrap();
}

#[test]
fn a_server_starts_with_policies() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("policy.yaml");
    std::fs::write(&file, POLICY).unwrap();
    let store = data.path().join("store");
    // The second time it is set already.
    for _ in 0..2 {
        let policy = ["--policy", file.to_str().unwrap()];
        let (mut child, address) = start_with(&store, &policy);
        assert_eq!(said(&apply(&address, &file, &[])), "shop.users: unchanged\n");
        signal(&child, "TERM");
        assert!(child.wait().unwrap().success());
    }
    std::fs::write(&file, "version: 3\n").unwrap();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--policy"];
    let output = freeboard().args(serve).arg(&file).arg("--data").arg(&store).output().unwrap();
    assert_failed(&output, "'version' must be 1");
}
