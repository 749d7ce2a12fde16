use crate::Engine;
use bson::{RawBson, RawDocumentBuf, rawdoc};
use command::{Client, Request};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Longer than any test takes: a wait that is not ended by an event fails it.
const LONG_MS: i32 = 300_000;

struct World {
    engine: Arc<Engine>,
    directory: TempDir,
}

impl World {
    async fn new() -> World {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = Engine::open(directory.path()).await.expect("opens");
        World { engine, directory }
    }

    async fn reopened(self) -> World {
        self.engine.close().await;
        drop(self.engine);
        let engine = Engine::open(self.directory.path()).await.expect("opens");
        World { engine, directory: self.directory }
    }

    async fn run(&self, command: RawDocumentBuf) -> RawDocumentBuf {
        run(&self.engine, command).await.expect("runs")
    }

    async fn insert(&self, documents: Vec<RawDocumentBuf>) {
        let documents: Vec<RawBson> = documents.into_iter().map(RawBson::Document).collect();
        let array = bson::RawArrayBuf::from_iter(documents);
        self.run(rawdoc! { "insert": "c", "$db": "d", "documents": array }).await;
    }

    async fn update(&self, update: RawDocumentBuf) {
        let statement = rawdoc! { "q": { "_id": 1 }, "u": update };
        let reply = self.run(rawdoc! { "update": "c", "$db": "d", "updates": [statement] }).await;
        assert_eq!(reply.get_i32("nModified").expect("a count"), 1, "{reply:?}");
    }

    async fn watch(&self, options: RawDocumentBuf) -> Watching<'_> {
        let reply = self.run(watch(options)).await;
        let cursor = reply.get_document("cursor").expect("a cursor");
        let id = cursor.get_i64("id").expect("an id");
        Watching { world: self, id, seen: batch(&reply), token: token(&reply) }
    }
}

async fn run(engine: &Arc<Engine>, command: RawDocumentBuf) -> error::Result<RawDocumentBuf> {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
    let client = Arc::new(Client::new(1, address));
    engine.run(Request::from(command), &client).await.map(|reply| reply.body)
}

fn watch(options: RawDocumentBuf) -> RawDocumentBuf {
    let stage = rawdoc! { "$changeStream": options };
    rawdoc! { "aggregate": "c", "$db": "d", "pipeline": [stage], "cursor": {} }
}

/// A stream, and what it has shown.
struct Watching<'w> {
    world: &'w World,
    id: i64,
    seen: Vec<RawDocumentBuf>,
    token: RawDocumentBuf,
}

impl Watching<'_> {
    async fn next(&mut self) -> error::Result<RawDocumentBuf> {
        while self.seen.is_empty() {
            let more =
                rawdoc! { "getMore": self.id, "$db": "d", "collection": "c", "maxTimeMS": LONG_MS };
            let reply = run(&self.world.engine, more).await?;
            self.token = token(&reply);
            self.seen = batch(&reply);
        }
        Ok(self.seen.remove(0))
    }
}

fn batch(reply: &RawDocumentBuf) -> Vec<RawDocumentBuf> {
    let cursor = reply.get_document("cursor").expect("a cursor");
    let batch = cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch"));
    let events = batch.expect("a batch").into_iter();
    events.map(|event| event.expect("an event").as_document().expect("one").to_owned()).collect()
}

fn token(reply: &RawDocumentBuf) -> RawDocumentBuf {
    let cursor = reply.get_document("cursor").expect("a cursor");
    cursor.get_document("postBatchResumeToken").expect("a token").to_owned()
}

fn updated(event: &RawDocumentBuf) -> RawDocumentBuf {
    let description = event.get_document("updateDescription").expect("an update");
    description.get_document("updatedFields").expect("fields").to_owned()
}

#[tokio::test]
async fn without_streams_nothing_is_logged() {
    let world = World::new().await;
    world.insert(vec![rawdoc! { "_id": 1 }]).await;
    let log = world.engine.store.log();
    assert!(!log.is_on() && log.bytes() == 0);
}

/// Before the first stream nothing is logged, and yet a client knows the time.
#[tokio::test]
async fn a_first_stream_starts_behind_the_last_commit() {
    let world = World::new().await;
    world.insert(vec![rawdoc! { "_id": 1 }]).await;
    let written = world.engine.cluster_time();
    // The write's own event was not kept.
    let lost = run(&world.engine, watch(rawdoc! { "startAtOperationTime": written })).await;
    assert_eq!(lost.unwrap_err().code().number(), 286);

    let world = World::new().await;
    let early = world.engine.cluster_time();
    world.insert(vec![rawdoc! { "_id": 1 }]).await;
    let written = world.engine.cluster_time();
    assert!(written > early, "every commit has a time");
    let late = bson::Timestamp { increment: written.increment + 1, ..written };
    let mut stream = world.watch(rawdoc! { "startAtOperationTime": late }).await;
    world.insert(vec![rawdoc! { "_id": 2 }]).await;
    let event = stream.next().await.unwrap();
    assert_eq!(event.get_document("documentKey").unwrap(), &*rawdoc! { "_id": 2 });
    assert_eq!(event.get_timestamp("clusterTime").unwrap(), world.engine.cluster_time());
    let lost = run(&world.engine, watch(rawdoc! { "startAtOperationTime": early })).await;
    assert_eq!(lost.unwrap_err().code().number(), 286);
}

/// A snapshot read comes back to the time of a reply, and of another snapshot read.
#[tokio::test]
async fn the_time_of_a_reply_is_a_moment() {
    let world = World::new().await;
    let read = |time: bson::Timestamp| {
        let concern = rawdoc! { "level": "snapshot", "atClusterTime": time };
        run(&world.engine, rawdoc! { "find": "c", "$db": "d", "readConcern": concern })
    };
    let behind = |time: bson::Timestamp| bson::Timestamp { increment: time.increment + 1, ..time };
    world.insert(vec![rawdoc! { "_id": 1 }]).await;
    let first = world.engine.cluster_time();
    for time in [first, behind(first)] {
        let reply = read(time).await.expect("reads");
        let cursor = reply.get_document("cursor").unwrap();
        assert_eq!(cursor.get_timestamp("atClusterTime").unwrap(), first);
    }
    world.insert(vec![rawdoc! { "_id": 2 }]).await;
    let unread = world.engine.cluster_time();
    world.insert(vec![rawdoc! { "_id": 3 }]).await;
    for (time, count) in [(first, 1), (behind(first), 1), (world.engine.cluster_time(), 3)] {
        assert_eq!(batch(&read(time).await.expect("reads")).len(), count);
    }
    assert_eq!(read(unread).await.unwrap_err().code().number(), 246);
}

/// What clients have seen of the clock is behind it after a restart.
#[tokio::test]
async fn the_clock_does_not_go_back() {
    let mut world = World::new().await;
    let mut last = world.engine.cluster_time();
    for id in 0..3 {
        world = world.reopened().await;
        assert!(world.engine.cluster_time() >= last, "a restart");
        last = world.engine.cluster_time();
        world.insert(vec![rawdoc! { "_id": id }]).await;
        assert!(world.engine.cluster_time() > last, "a commit");
        last = world.engine.cluster_time();
    }
}

#[tokio::test]
async fn large_values_are_told_whole() {
    let world = World::new().await;
    let images = rawdoc! { "enabled": true };
    world.run(rawdoc! { "create": "c", "$db": "d", "changeStreamPreAndPostImages": images }).await;
    let options = rawdoc! { "fullDocument": "required", "fullDocumentBeforeChange": "required" };
    let mut stream = world.watch(options).await;
    let big = "x".repeat(100_000);
    let inserted =
        rawdoc! { "_id": 1, "big": big.as_str(), "in": { "big": big.as_str(), "n": 1 }, "n": 1 };
    world.insert(vec![inserted.clone()]).await;
    let event = stream.next().await.unwrap();
    assert_eq!(event.get_document("fullDocument").unwrap(), &*inserted);

    world.update(rawdoc! { "$inc": { "n": 1, "in.n": 1 } }).await;
    let event = stream.next().await.unwrap();
    assert_eq!(updated(&event), rawdoc! { "n": 2, "in.n": 2 });
    assert_eq!(event.get_document("fullDocumentBeforeChange").unwrap(), &*inserted);
    let after =
        rawdoc! { "_id": 1, "big": big.as_str(), "in": { "big": big.as_str(), "n": 2 }, "n": 2 };
    assert_eq!(event.get_document("fullDocument").unwrap(), &*after);

    world.update(rawdoc! { "$rename": { "big": "large" } }).await;
    let event = stream.next().await.unwrap();
    assert_eq!(updated(&event), rawdoc! { "large": big.as_str() });

    world.update(rawdoc! { "$set": { "in": { "other": big.as_str() } } }).await;
    let event = stream.next().await.unwrap();
    assert_eq!(updated(&event), rawdoc! { "in": { "other": big.as_str() } });

    world.run(rawdoc! { "delete": "c", "$db": "d", "deletes": [{ "q": {}, "limit": 0 }] }).await;
    let event = stream.next().await.unwrap();
    let before =
        rawdoc! { "_id": 1, "in": { "other": big.as_str() }, "n": 2, "large": big.as_str() };
    assert_eq!(event.get_document("fullDocumentBeforeChange").unwrap(), &*before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_stream_is_woken() {
    let world = World::new().await;
    let mut stream = world.watch(rawdoc! {}).await;
    let insert = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.insert(vec![rawdoc! { "_id": 7 }]).await;
    };
    let (event, ()) = tokio::join!(stream.next(), insert);
    assert_eq!(event.unwrap().get_document("documentKey").unwrap(), &*rawdoc! { "_id": 7 });
}

#[tokio::test]
async fn a_stream_resumes_after_a_restart() {
    let world = World::new().await;
    let mut stream = world.watch(rawdoc! {}).await;
    let opened = stream.token.clone();
    world.insert(vec![rawdoc! { "_id": 1 }, rawdoc! { "_id": 2 }]).await;
    let first = stream.next().await.unwrap();
    let token = first.get_document("_id").unwrap().to_owned();
    let time = world.engine.cluster_time();
    let world = world.reopened().await;
    assert!(world.engine.cluster_time() > time, "times go on");
    world.insert(vec![rawdoc! { "_id": 3 }]).await;
    for (after, expected) in [(token, vec![2, 3]), (opened, vec![1, 2, 3])] {
        let mut stream = world.watch(rawdoc! { "resumeAfter": after }).await;
        for id in expected {
            let event = stream.next().await.unwrap();
            assert_eq!(event.get_document("documentKey").unwrap(), &*rawdoc! { "_id": id });
        }
        assert!(stream.seen.is_empty());
    }
}

#[tokio::test]
async fn an_outgrown_log_forgets_its_oldest_events() {
    let world = World::new().await;
    let mut behind = world.watch(rawdoc! {}).await;
    world.insert(vec![rawdoc! { "_id": 0 }]).await;
    let token = behind.next().await.unwrap().get_document("_id").unwrap().to_owned();
    let filler = "x".repeat(1_000);
    let log = world.engine.store.log();
    log.set_bytes_max(100_000);
    for id in 1..500 {
        world.insert(vec![rawdoc! { "_id": id, "filler": filler.as_str() }]).await;
    }
    while log.bytes() > log.bytes_max() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(log.bytes() > 0);
    let lost = behind.next().await.unwrap_err();
    assert_eq!(lost.code().number(), 286);
    assert_eq!(lost.labels(), ["NonResumableChangeStreamError"]);
    let lost = run(&world.engine, watch(rawdoc! { "resumeAfter": token })).await.unwrap_err();
    assert_eq!(lost.code().number(), 286);
    let mut ahead = world.watch(rawdoc! {}).await;
    world.insert(vec![rawdoc! { "_id": 500 }]).await;
    assert!(ahead.next().await.is_ok());
    // The bound and the beginning outlive a restart.
    let (start, bytes) = (log.start(), log.bytes());
    let world = world.reopened().await;
    let log = world.engine.store.log();
    assert_eq!((log.start(), log.bytes()), (start, bytes));
}

/// What each writer wrote after the log's beginning is told without gaps.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_begins_between_writes() {
    let world = World::new().await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..4 {
        let (engine, stop) = (world.engine.clone(), stop.clone());
        writers.push(tokio::spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let document = rawdoc! { "_id": { "writer": writer, "number": number } };
                let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [document], "writeConcern": { "j": false } };
                run(&engine, insert).await.expect("inserts");
                number += 1;
            }
            number
        }));
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut stream = world.watch(rawdoc! {}).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    stop.store(true, Ordering::Relaxed);
    let mut written = Vec::new();
    for writer in writers {
        written.push(writer.await.expect("a writer"));
    }
    world.insert(vec![rawdoc! { "_id": "last" }]).await;
    let mut told: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    loop {
        let event = stream.next().await.unwrap();
        let key = event.get_document("documentKey").unwrap();
        let Ok(id) = key.get_document("_id") else { break };
        let number = id.get_i32("number").unwrap();
        told.entry(id.get_i32("writer").unwrap()).or_default().push(number);
    }
    for (writer, numbers) in told {
        let first = numbers[0];
        let expected: Vec<i32> = (first..written[writer as usize]).collect();
        assert_eq!(numbers, expected, "writer {writer}");
    }
}

/// A transaction that was open when the log began, of which nothing is told, does
/// not commit.
#[tokio::test]
async fn a_transaction_does_not_reach_over_the_beginning() {
    let world = World::new().await;
    world.insert(vec![rawdoc! { "_id": 0 }]).await;
    let statement = |mut command: RawDocumentBuf, number: i64, start: bool| {
        let uuid = bson::Binary::from(bson::Uuid::from_bytes([7; 16]));
        command.append(bson::cstr!("lsid"), rawdoc! { "id": uuid });
        command.append(bson::cstr!("txnNumber"), number);
        command.append(bson::cstr!("autocommit"), false);
        if start {
            command.append(bson::cstr!("startTransaction"), true);
        }
        command
    };
    let insert = |id: i32| rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": id }] };
    let commit = rawdoc! { "commitTransaction": 1, "$db": "admin" };
    world.run(statement(insert(1), 1, true)).await;
    let mut stream = world.watch(rawdoc! {}).await;
    let refused = run(&world.engine, statement(commit.clone(), 1, false)).await.unwrap_err();
    assert_eq!(refused.code().number(), 112);
    assert_eq!(refused.labels(), ["TransientTransactionError"]);
    world.run(statement(insert(1), 2, true)).await;
    world.run(statement(commit, 2, false)).await;
    let event = stream.next().await.unwrap();
    assert_eq!(event.get_document("documentKey").unwrap(), &*rawdoc! { "_id": 1 });
}

#[tokio::test]
async fn whoever_waits_for_an_event_hears_that_the_cursor_is_killed() {
    let world = World::new().await;
    let mut stream = world.watch(rawdoc! {}).await;
    let kill = rawdoc! { "killCursors": "c", "$db": "d", "cursors": [stream.id] };
    let (waiting, ()) = tokio::join!(stream.next(), async {
        // The other has begun to wait: they take turns on one thread.
        tokio::task::yield_now().await;
        world.run(kill).await;
    });
    assert_eq!(waiting.unwrap_err().code(), error::Code::CursorKilled);
}
