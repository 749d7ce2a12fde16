//! `freeboard migrate` and `freeboard verify`.

use crate::binary::{assert_failed, freeboard, signal, start};
use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};
use mongodb::Client;
use std::path::PathBuf;
use std::process::{Child, Output};
use std::time::Duration;

const POLICY: &str = "version: 1
database: d
collections:
  c:
    arrays:
      a: { max: 10, on_limit: overflow, overflow: { into: p, page: 50, read: head, count: aCount,
           flag: aHasOverflow, pages: aOverflowPages, elements: p_all } }
      log: { max: 2, on_limit: drop_oldest }
      tags: { max: 2 }
";

/// A directory with a policy file and a place for a store.
struct Place {
    directory: tempfile::TempDir,
    policy: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let policy = directory.path().join("policy.yaml");
        std::fs::write(&policy, POLICY).unwrap();
        Place { directory, policy }
    }

    fn start(&self) -> (Child, String) {
        let (child, address) = start(&self.store());
        (child, format!("mongodb://{address}/?serverSelectionTimeoutMS=2000"))
    }

    fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    fn migrate(&self, uri: &str, more: &[&str]) -> Child {
        let mut command = freeboard();
        command.arg("migrate").arg(uri).arg("--policy").arg(&self.policy).args(more);
        command.spawn().unwrap()
    }

    /// Migrates, and gives what was said.
    fn migrated(&self, uri: &str, more: &[&str]) -> String {
        said(&self.migrate(uri, more).wait_with_output().unwrap())
    }
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The exit code of `freeboard verify`, and what it said.
fn verify(uri: &str, more: &[&str]) -> (Option<i32>, String) {
    let output = freeboard().args(["verify", uri]).args(more).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn insert(uri: &str, documents: Vec<RawDocumentBuf>) {
    block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        client
            .database("d")
            .collection::<RawDocumentBuf>("c")
            .insert_many(documents)
            .await
            .unwrap();
    });
}

fn count(uri: &str, collection: &str, filter: Document) -> u64 {
    block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        let collection = client.database("d").collection::<Document>(collection);
        collection.count_documents(filter).await.unwrap()
    })
}

fn filled(id: i32, elements: i32) -> RawDocumentBuf {
    rawdoc! { "_id": id, "a": (0..elements).collect::<RawArrayBuf>() }
}

/// All elements of a document's array, head and pages in order.
fn sequence(uri: &str, id: i32) -> Vec<i32> {
    block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        let view = client.database("d").collection::<Document>("p_all");
        let sort = doc! { "page": 1, "at": 1 };
        let mut items = view.find(doc! { "parentId": id }).sort(sort).await.unwrap();
        let mut numbers = Vec::new();
        while items.advance().await.unwrap() {
            numbers.push(items.deserialize_current().unwrap().get_i32("item").unwrap());
        }
        numbers
    })
}

fn stop(mut child: Child) {
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

/// Waits until something is so.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn documents_are_planned_settled_and_verified() {
    let place = Place::new();
    let (child, uri) = place.start();
    assert_eq!(verify(&uri, &[]), (Some(0), "no collection has a growth policy\n".to_owned()));
    insert(
        &uri,
        vec![
            filled(1, 25),
            filled(2, 10),
            rawdoc! { "_id": 3, "log": [1, 2, 3, 4, 5], "aCount": 9 },
            rawdoc! { "_id": 4, "tags": [1, 2, 3] },
        ],
    );
    let plan = place.migrated(&uri, &["--dry-run"]);
    assert!(plan.contains("d.c: new"), "{plan}");
    assert!(plan.contains("3 documents are over these bounds"), "{plan}");
    let words = "of 4 documents 2 would be settled: 15 elements into 1 page of 210 bytes, \
                 3 elements dropped; about a second";
    assert!(plan.contains(words), "{plan}");
    assert!(plan.contains("document 4: the array 'tags' has 3 elements and 26 bytes"), "{plan}");
    assert_eq!(count(&uri, "p", doc! {}), 0);

    let done = place.migrated(&uri, &[]);
    assert!(done.contains("of 4 documents 2 settled: 15 elements into 1 page of"), "{done}");
    assert!(done.contains("1 document is left to its owner"), "{done}");
    let words = "verified: 4 documents and 1 page hold 35 elements, each once and in order";
    assert!(done.contains(words), "{done}");
    assert_eq!(sequence(&uri, 1), (0..25).collect::<Vec<_>>());
    let again = place.migrated(&uri, &["--rate", "0", "--batch", "1"]);
    assert!(again.starts_with("d.c: unchanged\n"), "{again}");
    assert!(again.contains("of 4 documents 0 settled"), "{again}");

    let (code, found) = verify(&uri, &["--db", "d"]);
    assert_eq!(code, Some(1), "{found}");
    assert!(found.contains("over its bounds: document 4: the array 'tags' has 3"), "{found}");
    insert(&uri, vec![filled(5, 100)]);
    let drop = block_on(async {
        let client = Client::with_uri_str(&uri).await.unwrap();
        client.database("d").collection::<Document>("c").delete_one(doc! { "_id": 4 }).await
    });
    assert_eq!(drop.unwrap().deleted_count, 1);
    let clean = "d.c: 4 documents, 3 pages, 135 elements: clean\n".to_owned();
    assert_eq!(verify(&uri, &[]), (Some(0), clean.clone()));
    assert_eq!(verify(&uri, &["--repair"]), (Some(0), clean));
    stop(child);
}

/// Runs `freeboard migrate --undo` with these arguments.
fn undo(uri: &str, more: &[&str]) -> Output {
    freeboard().args(["migrate", uri, "--undo"]).args(more).output().unwrap()
}

fn array(uri: &str, id: i32) -> Vec<i32> {
    block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        let collection = client.database("d").collection::<Document>("c");
        let found = collection.find_one(doc! { "_id": id }).await.unwrap().unwrap();
        found.get_array("a").unwrap().iter().map(|item| item.as_i32().unwrap()).collect()
    })
}

#[test]
fn a_migration_is_undone() {
    let place = Place::new();
    let (child, uri) = place.start();
    insert(&uri, (0..30).map(|id| filled(id, 25)).collect());
    place.migrated(&uri, &["--rate", "0"]);
    let file = place.policy.to_str().unwrap();
    let plan = said(&undo(&uri, &["--policy", file, "--dry-run"]));
    let words = "d.c: of 30 documents 30 would be restored: 750 elements, 30 pages gone";
    assert!(plan.contains(words) && plan.contains("nothing was changed"), "{plan}");
    assert_eq!(count(&uri, "p", doc! {}), 30);
    // A document every hundred seconds: the signal comes while it rests.
    let arguments = ["--undo", "--collection", "d.c", "--batch", "1", "--rate", "0.01"];
    let begun = freeboard().arg("migrate").arg(&uri).args(arguments).spawn().unwrap();
    until(|| count(&uri, "p", doc! {}) < 30);
    signal(&begun, "INT");
    assert_failed(&begun.wait_with_output().unwrap(), "the same command goes on from here");
    assert_eq!(count(&uri, "p", doc! {}), 29);
    let done = said(&undo(&uri, &["--collection", "d.c", "--rate", "0"]));
    assert!(done.contains("29 restored") && done.contains("the policy is dropped"), "{done}");
    assert_eq!(count(&uri, "p", doc! {}), 0);
    assert_eq!(count(&uri, "c", doc! { "aCount": { "$exists": true } }), 0);
    (0..30).for_each(|id| assert_eq!(array(&uri, id), (0..25).collect::<Vec<_>>()));
    let again = said(&undo(&uri, &["--policy", file]));
    assert_eq!(again, "d.c: no growth policy, nothing to undo\n");
    assert_eq!(verify(&uri, &[]), (Some(0), "no collection has a growth policy\n".to_owned()));
    assert_failed(&undo(&uri, &["--collection", "c"]), "expected database.collection");
    assert_failed(&undo(&uri, &[]), "--policy");
    assert_failed(&undo(&uri, &["--collection", "d.c", "--policy", file]), "cannot be used with");
    stop(child);
}

#[test]
fn what_pages_are_known_by_changes_by_restoring_and_moving_again() {
    let place = Place::new();
    let (child, uri) = place.start();
    insert(&uri, (0..30).map(|id| filled(id, 25)).collect());
    place.migrated(&uri, &["--rate", "0"]);
    let changed = POLICY.replace("into: p,", "into: q, keep: newest, parent_key: of,");
    std::fs::write(&place.policy, changed.replace("aCount", "total")).unwrap();
    let file = place.policy.to_str().unwrap();
    let refused = freeboard().args(["apply", &uri, file]).output().unwrap();
    assert_failed(&refused, "'freeboard migrate' with the new policy restores the arrays");
    let plan = place.migrated(&uri, &["--dry-run"]);
    assert!(plan.contains("30 would be restored: 750 elements, 30 pages gone"), "{plan}");
    assert!(plan.contains("  ~ arrays.a.overflow.into: "), "{plan}");
    assert!(plan.contains("d.c: how much would be moved to new pages is not estimated"), "{plan}");
    assert!(!plan.contains("not in the file"), "{plan}");
    assert_eq!(count(&uri, "p", doc! {}), 30);
    let done = place.migrated(&uri, &["--rate", "0"]);
    assert!(done.contains("30 restored") && done.contains("30 settled: 450 elements"), "{done}");
    assert!(done.contains("hold 750 elements, each once and in order"), "{done}");
    let pages = [count(&uri, "p", doc! {}), count(&uri, "q", doc! { "of": { "$gte": 0 } })];
    assert_eq!(pages, [0, 30]);
    assert_eq!(count(&uri, "c", doc! { "aCount": { "$exists": true } }), 0);
    assert_eq!(count(&uri, "c", doc! { "total": 25 }), 30);
    (0..30).for_each(|id| assert_eq!(array(&uri, id), (15..25).collect::<Vec<_>>()));
    stop(child);
}

/// A policy is left for another one only where that one can be set.
#[test]
fn no_policy_is_left_for_a_file_that_is_refused() {
    let place = Place::new();
    let (child, uri) = place.start();
    insert(&uri, (0..3).map(|id| filled(id, 25)).collect());
    place.migrated(&uri, &["--rate", "0"]);
    block_on(async {
        let client = Client::with_uri_str(&uri).await.unwrap();
        let other = client.database("d").collection::<Document>("other");
        other.insert_one(doc! { "_id": 1 }).await.unwrap();
        let unique = doc! { "key": { "b": 1 }, "name": "b_1", "unique": true, "sparse": true };
        let create = doc! { "createIndexes": "c", "indexes": [unique] };
        client.database("d").run_command(create).await.unwrap();
    });
    let moved = POLICY.replace("into: p,", "into: q,");
    let log = "      log: { max: 2, on_limit: drop_oldest }\n";
    let unique = "      b: { max: 2, on_limit: overflow }\n";
    let beside =
        "  d2:\n    arrays:\n      a: { max: 2, on_limit: overflow, overflow: { into: other } }\n";
    for (file, words) in [
        (POLICY.replace("into: p,", "into: other,"), "overflows into 'd.other', which holds"),
        (moved.replace(log, unique), "the unique index 'b_1' names it"),
        (format!("{moved}{beside}"), "d.d2: the policy key 'arrays.a' overflows into 'd.other'"),
    ] {
        std::fs::write(&place.policy, file).unwrap();
        for more in [&["--dry-run"][..], &[]] {
            let output = place.migrate(&uri, more).wait_with_output().unwrap();
            assert_failed(&output, words);
            assert_failed(&output, "nothing was changed");
        }
        assert_eq!(count(&uri, "p", doc! {}), 3);
    }
    std::fs::write(&place.policy, POLICY).unwrap();
    assert!(place.migrated(&uri, &[]).starts_with("d.c: unchanged\n"));
    stop(child);
}

/// Runs `freeboard migrate`, and interrupts it at a document that a transaction holds.
fn stopped_at_a_document(uri: &str, arguments: &[&str]) -> Output {
    block_on(async {
        let client = Client::with_uri_str(uri).await.unwrap();
        let mut session = client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let collection = client.database("d").collection::<Document>("c");
        let update = doc! { "$set": { "held": true } };
        let update = collection.update_one(doc! { "_id": 1 }, update);
        update.session(&mut session).await.unwrap();
        let migrating = freeboard().args(["migrate", uri]).args(arguments).spawn().unwrap();
        let filter = doc! { "command.migrateGrowth": "c" };
        let admin = client.database("admin");
        let pipeline = [doc! { "$currentOp": {} }, doc! { "$match": filter }];
        while !admin.aggregate(pipeline.clone()).await.unwrap().advance().await.unwrap() {}
        signal(&migrating, "INT");
        tokio::time::sleep(Duration::from_millis(200)).await;
        session.abort_transaction().await.unwrap();
        migrating.wait_with_output().unwrap()
    })
}

#[test]
fn a_plan_of_a_restoration_that_is_stopped_is_no_plan() {
    let place = Place::new();
    let (child, uri) = place.start();
    insert(&uri, (0..30).map(|id| filled(id, 25)).collect());
    place.migrated(&uri, &["--rate", "0"]);
    let words = "stopped before all documents were looked at; nothing was changed";
    let plan = ["--undo", "--collection", "d.c", "--dry-run"];
    assert_failed(&stopped_at_a_document(&uri, &plan), words);
    let changed = POLICY.replace("into: p,", "into: q,");
    std::fs::write(&place.policy, changed).unwrap();
    let file = place.policy.to_str().unwrap();
    assert_failed(&stopped_at_a_document(&uri, &["--policy", file, "--rate", "0"]), words);
    let known = || {
        block_on(async {
            let client = Client::with_uri_str(&uri).await.unwrap();
            client.database("d").run_command(doc! { "getGrowthPolicy": "c" }).await.unwrap()
        })
    };
    assert!(known().get("leaving").is_none(), "{}", known());
    // Neither is one with documents that cannot be restored.
    block_on(async {
        let client = Client::with_uri_str(&uri).await.unwrap();
        let validator = doc! { "n": { "$exists": true } };
        let modify = doc! { "collMod": "c", "validator": validator };
        client.database("d").run_command(modify).await.unwrap();
    });
    let output = place.migrate(&uri, &["--rate", "0"]).wait_with_output().unwrap();
    let words = "d.c: 30 documents could not be restored, so that pages cannot change; nothing";
    assert_failed(&output, words);
    assert!(known().get("leaving").is_none(), "{}", known());
    assert_eq!(count(&uri, "p", doc! {}), 30);
    stop(child);
}

#[test]
fn wrong_use_is_said_in_a_sentence() {
    let place = Place::new();
    let nobody = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
    let output = place.migrate(nobody, &[]).wait_with_output().unwrap();
    assert_failed(&output, "no server answers");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("Topology"));
    let output = freeboard().args(["verify", nobody]).output().unwrap();
    assert_failed(&output, "no server answers");
    let output = place.migrate("http://x", &[]).wait_with_output().unwrap();
    assert_failed(&output, "this is no URI of a server, such as mongodb://host:27017: ");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("labels"));
    let output = freeboard().args(["migrate", nobody, "--policy", "none"]).output().unwrap();
    assert_failed(&output, "cannot be read");
    assert_failed(&freeboard().args(["migrate", nobody]).output().unwrap(), "--policy");
    for (flag, value) in [("--rate", "x"), ("--batch", "0")] {
        let output = place.migrate(nobody, &[flag, value]).wait_with_output().unwrap();
        assert_failed(&output, flag);
    }
}

#[test]
fn ctrl_c_stops_between_two_batches_and_the_next_run_goes_on() {
    let place = Place::new();
    let (child, uri) = place.start();
    insert(&uri, (0..20).map(|id| filled(id, 30)).collect());
    // A document every hundred seconds: the signal comes while it rests.
    let migrate = place.migrate(&uri, &["--batch", "1", "--rate", "0.01"]);
    until(|| count(&uri, "p", doc! {}) > 0);
    signal(&migrate, "INT");
    let output = migrate.wait_with_output().unwrap();
    assert_failed(&output, "freeboard: stopping after this batch; Ctrl-C again ends it at once");
    assert_failed(&output, "the same command goes on from here");
    assert_eq!(count(&uri, "p", doc! {}), 1);
    let done = place.migrated(&uri, &["--rate", "0"]);
    assert!(done.contains("of 20 documents 19 settled"), "{done}");
    for id in 0..20 {
        assert_eq!(sequence(&uri, id), (0..30).collect::<Vec<_>>());
    }
    stop(child);
}

#[test]
fn a_killed_server_leaves_whole_documents_and_the_next_run_goes_on() {
    const DOCUMENTS: i32 = 150;
    let place = Place::new();
    let (mut child, mut uri) = place.start();
    insert(&uri, (0..DOCUMENTS).map(|id| filled(id, 400)).collect());
    let settled = |uri: &str| count(uri, "c", doc! { "aHasOverflow": true });
    for round in 0..3 {
        let mut migrate = place.migrate(&uri, &["--rate", "0", "--batch", "3"]);
        let before = settled(&uri);
        while settled(&uri) <= before + round && migrate.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&child, "KILL");
        child.wait().unwrap();
        let output = migrate.wait_with_output().unwrap();
        let complete = output.status.success();
        if !complete {
            assert_failed(&output, "the same command goes on where it stopped");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("labels"), "{said}");
        }
        (child, uri) = place.start();
        assert!(settled(&uri) >= before);
        let (_, found) = verify(&uri, &[]);
        assert!(!found.contains("wrong"), "{found}");
    }
    let done = place.migrated(&uri, &["--rate", "0"]);
    assert!(done.contains("hold 60000 elements, each once and in order"), "{done}");
    for id in (0..DOCUMENTS).step_by(7) {
        assert_eq!(sequence(&uri, id), (0..400).collect::<Vec<_>>());
    }
    assert_eq!(verify(&uri, &[]).0, Some(0));
    stop(child);
}
