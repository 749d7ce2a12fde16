//! `freeboard apply` and `freeboard serve --policy`.

use crate::binary::{assert_failed, freeboard, signal, start, start_with};
use bson::doc;
use std::path::Path;
use std::process::{Output, Stdio};

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
fn a_dry_run_says_what_applications_will_see() {
    let data = tempfile::tempdir().unwrap();
    let [file, users] = ["policy.yaml", "users.ndjson"].map(|name| data.path().join(name));
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/?directConnection=true");
    let numbers = |count: usize| vec!["1"; count].join(",");
    let [long, short] = [numbers(2_500), numbers(3)];
    let lines = format!(
        "{{\"_id\": 1, \"a\": [{short}], \"b\": [{long}]}}\n{{\"_id\": 2, \"a\": [{long}], \"d\": [{long}]}}\n"
    );
    std::fs::write(&users, lines).unwrap();
    let import = freeboard().args(["import", &uri, "d.users"]).arg(&users).output().unwrap();
    assert!(import.status.success());
    let policy = "version: 1
database: d
collections:
  users:
    arrays:
      a: { max: 1000, on_limit: overflow }
      b: { max: 1000, on_limit: overflow, overflow: { read: head, count: bs } }
      c: { max: 10, on_limit: reject }
      d: { max: 10, on_limit: drop_oldest }
  user: { arrays: { a: { max: 10, on_limit: reject } } }
";
    std::fs::write(&file, policy).unwrap();
    let dry = said(&apply(&address, &file, &["--dry-run"]));
    for line in [
        "  a: reads stay as they are, up to 16 MB a document; 1,000 of 2,500 elements in the longest",
        "  b: finds will show 1,000 of 2,500 elements in the longest",
        "  d: writes will delete 2,490 of 2,500 elements in the longest",
        "  warning: no document of d.users has an array 'c': check the path",
        "  warning: there is no collection d.user yet: check the name",
    ] {
        assert!(dry.contains(line), "{line}\n{dry}");
    }
    assert!(!dry.contains("has an array 'a'"), "{dry}");
    // What is misspelt is said when it is set, too; once it is set the figures are exact.
    let set = said(&apply(&address, &file, &[]));
    assert!(set.contains("warning: no document of d.users has an array 'c'"), "{set}");
    assert!(!set.contains("reads stay"), "{set}");
    std::fs::write(&file, policy.replace("a: { max: 1000,", "a: { max: 500,")).unwrap();
    let dry = said(&apply(&address, &file, &["--dry-run"]));
    assert!(dry.contains("; 500 of 2,500 elements in the longest stay in it\n"), "{dry}");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
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

/// Restores the first of the documents of shop.users, so that their policy is being left.
fn leave(address: &str) {
    let uri = format!("mongodb://{address}/?directConnection=true");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let database = mongodb::Client::with_uri_str(uri).await.unwrap().database("shop");
        let undo = doc! { "migrateGrowth": "users", "undo": true, "limit": 1 };
        database.run_command(undo).await.unwrap();
    });
}

#[test]
fn a_policy_that_is_being_left_is_set_again() {
    let data = tempfile::tempdir().unwrap();
    let [file, users] = ["policy.yaml", "users.ndjson"].map(|name| data.path().join(name));
    std::fs::write(&file, POLICY.replace("1000", "2")).unwrap();
    let lines: String =
        (0..3).map(|id| format!("{{\"_id\": {id}, \"activities\": [1, 2, 3]}}\n")).collect();
    std::fs::write(&users, lines).unwrap();
    let store = data.path().join("store");
    let policy = ["--policy", file.to_str().unwrap()];
    let (mut child, address) = start_with(&store, &policy);
    let uri = format!("mongodb://{address}/?directConnection=true");
    let import = freeboard().args(["import", &uri, "shop.users"]).arg(&users).output().unwrap();
    assert!(import.status.success());
    leave(&address);
    let words = "shop.users: it was being left, and holds again\n";
    assert!(said(&apply(&address, &file, &["--dry-run"])).starts_with(words));
    assert!(said(&apply(&address, &file, &[])).starts_with(words));
    assert_eq!(said(&apply(&address, &file, &[])), "shop.users: unchanged\n");
    // A start with the file sets it again, too.
    leave(&address);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    let (mut child, address) = start_with(&store, &policy);
    assert_eq!(said(&apply(&address, &file, &[])), "shop.users: unchanged\n");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_file_is_applied_whole_whoever_reads() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("policy.yaml");
    let (mut child, address) = start(&data.path().join("store"));
    let uri = format!("mongodb://{address}/?directConnection=true");
    let collections: String =
        (0..40).map(|at| format!("  c{at}: {{ arrays: {{ a: {{ max: MAX }} }} }}\n")).collect();
    let policy = format!("version: 1\ndatabase: d\ncollections:\n{collections}");
    let with = |stdout: Stdio, max: &str| {
        std::fs::write(&file, policy.replace("MAX", max)).unwrap();
        freeboard().arg("apply").arg(&uri).arg(&file).stdout(stdout).output().unwrap()
    };
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = with(full.into(), "1");
    assert_failed(
        &output,
        "freeboard: what was done could not be reported in full: standard output",
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
    assert_eq!(said(&apply(&address, &file, &[])).matches(": unchanged\n").count(), 40);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = with(writer.into(), "2");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    assert_eq!(said(&apply(&address, &file, &[])).matches(": unchanged\n").count(), 40);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_variable_sets_a_flag_with_a_number() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("policy.yaml");
    std::fs::write(&file, POLICY).unwrap();
    let (mut child, address) = start(&data.path().join("store"));
    let run = |value: &str| {
        let uri = format!("mongodb://{address}/?directConnection=true");
        let mut command = freeboard();
        command.arg("apply").arg(uri).arg(&file).env("FREEBOARD_DRY_RUN", value);
        said(&command.output().unwrap())
    };
    assert!(run("1").contains("nothing was changed"));
    assert!(!run("0").contains("nothing was changed"));
    assert_eq!(run("0"), "shop.users: unchanged\n");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}
