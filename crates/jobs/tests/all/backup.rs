//! Copies of a store that is in use.

use crate::place::{Place, serve};
use bson::{Document, RawDocumentBuf, doc, rawdoc};
use freeboard_jobs::Backup;
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::{ErrorKind, UNKNOWN_TRANSACTION_COMMIT_RESULT};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ACCOUNTS: i32 = 50;
const BALANCE: i64 = 100;
const WRITERS: i32 = 4;

/// Moves one from an account to another, in a transaction.
async fn transfer(client: &Client, from: i32, to: i32) {
    let accounts = client.database("d").collection::<Document>("accounts");
    let mut session = client.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    for (id, by) in [(from, -1), (to, 1)] {
        let update = doc! { "$inc": { "balance": by as i64 } };
        let moved = accounts.update_one(doc! { "_id": id }, update).session(&mut session).await;
        if moved.is_err() {
            // Someone else was at it.
            let _ = session.abort_transaction().await;
            return;
        }
    }
    if let Err(error) = session.commit_transaction().await {
        assert!(!error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT), "{error}");
    }
}

/// Transfers, inserts, deletes and large values, until it is told to stop.
async fn load(client: Client, writer: i32, stop: Arc<AtomicBool>) {
    let events = client.database("d").collection::<RawDocumentBuf>("events");
    let large = "x".repeat(40_000);
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        transfer(&client, (writer + number) % ACCOUNTS, (writer * 7 + number * 3) % ACCOUNTS).await;
        let event = rawdoc! { "writer": writer, "number": number, "tags": ["a", "b"], "large": large.as_str() };
        events.insert_one(event).await.unwrap();
        if number % 3 == 0 {
            events.delete_one(doc! { "writer": writer }).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_under_load_is_a_whole_store() {
    let place = Place::new().await;
    let accounts: Vec<RawDocumentBuf> =
        (0..ACCOUNTS).map(|id| rawdoc! { "_id": id, "balance": BALANCE }).collect();
    place.collection("accounts").insert_many(accounts).await.unwrap();
    let index = doc! { "createIndexes": "events", "indexes": [{ "key": { "tags": 1, "number": 1 }, "name": "tags" }] };
    place.client.database("d").run_command(index).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(load(place.client.clone(), writer, stop.clone())))
        .collect();
    let events = place.collection("events");
    while events.estimated_document_count().await.unwrap() < 50 {
        tokio::task::yield_now().await;
    }
    let directory = place.path("backups/deep/copy");
    let copied = Backup { uri: &place.uri, directory: "deep/copy" }.run().await.unwrap();
    assert!(copied.bytes > 0);
    assert_eq!(copied.directory, directory.canonicalize().unwrap().to_str().unwrap());
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert_private(&place.path("backups"));
    check(&directory).await;
    // A second copy does not go over the first.
    let again = directory.to_str().unwrap();
    let again = Backup { uri: &place.uri, directory: again }.run().await.unwrap_err();
    assert!(again.to_string().contains("is not empty"), "{again}");
    place.stop().await;
}

/// Nobody but the server's user may look into it.
fn assert_private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let file = std::fs::metadata(path).unwrap();
    assert_eq!(file.permissions().mode() & 0o077, 0, "{}", path.display());
    if file.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            assert_private(&entry.unwrap().path());
        }
    }
}

/// Opens a copy: no transfer is half there, and indexes agree with collections.
async fn check(directory: &std::path::Path) {
    let (_, client, running) = serve(directory).await;
    let database = client.database("d");
    let accounts: Vec<Document> =
        database.collection("accounts").find(doc! {}).await.unwrap().try_collect().await.unwrap();
    let sum: i64 = accounts.iter().map(|account| account.get_i64("balance").unwrap()).sum();
    assert_eq!((accounts.len() as i32, sum), (ACCOUNTS, i64::from(ACCOUNTS) * BALANCE));
    for name in ["accounts", "events"] {
        let reply = database.run_command(doc! { "validate": name, "full": true }).await.unwrap();
        assert!(reply.get_bool("valid").unwrap(), "{reply}");
    }
    // It is a store like any other.
    database.collection("events").insert_one(doc! { "_id": "new" }).await.unwrap();
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_stopped_leaves_nothing() {
    let place = Place::new().await;
    let filler = "x".repeat(10_000);
    let documents: Vec<RawDocumentBuf> =
        (0..3_000).map(|id| rawdoc! { "_id": id, "filler": filler.as_str() }).collect();
    place.collection("c").insert_many(documents).await.unwrap();
    let directory = place.path("backups/copy");
    let command =
        doc! { "freeboardBackup": 1, "directory": directory.to_str().unwrap(), "maxTimeMS": 1 };
    let error = place.command(command).await.unwrap_err();
    assert!(matches!(&*error.kind, ErrorKind::Command(error) if error.code == 50), "{error}");
    assert!(!directory.exists());
    // A directory that was there stays.
    std::fs::create_dir(&directory).unwrap();
    let command =
        doc! { "freeboardBackup": 1, "directory": directory.to_str().unwrap(), "maxTimeMS": 1 };
    place.command(command).await.unwrap_err();
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_copy_may_go() {
    let place = Place::new().await;
    for (command, code) in [
        (doc! { "freeboardBackup": 1 }, 40414),
        (doc! { "freeboardBackup": 1, "directory": 1 }, 14),
        (doc! { "freeboardBackup": 1, "directory": "../beside" }, 2),
        (doc! { "freeboardBackup": 1, "directory": "/proc/nowhere" }, 2),
        (doc! { "freeboardBackup": 1, "directory": "/etc" }, 2),
    ] {
        let error = place.command(command.clone()).await.unwrap_err();
        assert!(
            matches!(&*error.kind, ErrorKind::Command(error) if error.code == code),
            "{command}: {error}"
        );
    }
    let database = place.client.database("d");
    let error =
        database.run_command(doc! { "freeboardBackup": 1, "directory": "/x" }).await.unwrap_err();
    assert!(matches!(&*error.kind, ErrorKind::Command(error) if error.code == 13), "{error}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_directory_for_them_makes_no_copies() {
    let home = tempfile::tempdir().unwrap();
    let (uri, _, running) = serve(&home.path().join("data")).await;
    let directory = home.path().join("copy");
    let refused = Backup { uri: &uri, directory: directory.to_str().unwrap() }.run().await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("start it with --backups DIR"), "{refused}");
    assert!(!directory.exists());
    running.stop().await;
}
