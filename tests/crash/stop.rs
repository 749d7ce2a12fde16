//! A stop in good order takes seconds, whatever is to be written out, and loses nothing.

use crate::connection::Connection;
use crate::{FREEBOARD, RESERVE};
use bson::{Document, doc};
use std::time::{Duration, Instant};

/// What a stop may take.
const STOP_MAX: Duration = Duration::from_secs(5);
const DOCUMENTS: i32 = 6_000;
const BATCH: i32 = 1_000;

#[test]
fn a_stop_is_quick_after_builds_and_drops() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut client = Connection::to(&server);
    for from in (0..DOCUMENTS).step_by(BATCH as usize) {
        let tags = |id: i32| (0..40).map(|n| format!("{}-{n}", id ^ 0x5555)).collect::<Vec<_>>();
        let documents: Vec<Document> =
            (from..from + BATCH).map(|id| doc! { "_id": id, "tags": tags(id) }).collect();
        client.run("d", doc! { "insert": "c", "documents": documents }).unwrap();
    }
    for number in 0..300 {
        client.run("many", doc! { "create": format!("c{number}") }).unwrap();
    }
    let index = doc! { "createIndexes": "c", "indexes": [{ "name": "t", "key": { "tags": 1 } }] };
    client.run("d", index).unwrap();
    client.run("many", doc! { "dropDatabase": 1 }).unwrap();
    let started = Instant::now();
    server.stop();
    assert!(started.elapsed() < STOP_MAX, "{:?}", started.elapsed());

    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut client = Connection::to(&server);
    let count = client.run("d", doc! { "count": "c", "query": {} }).unwrap();
    assert_eq!(count.get_i32("n").unwrap(), DOCUMENTS);
    let valid = client.run("d", doc! { "validate": "c", "full": true }).unwrap();
    assert!(valid.get_bool("valid").unwrap(), "{valid}");
    server.stop();
}
