//! Changes of definition beside other clients: many collections at once, transactions that
//! stay open, index builds, a stop.

use crate::ages::Ages;
use crate::copy::home;
use crate::world::World;
use bson::{Document, doc};
use error::Code;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a stop may take, on a machine that is busy with other tests.
const STOP_MAX: Duration = Duration::from_secs(4);

async fn create_many(world: &World, count: usize) {
    for number in 0..count {
        world.must(doc! { "create": format!("c{number}") }).await;
    }
}

/// Seconds that a drop of so many empty collections takes.
async fn time_drop(world: &World, count: usize) -> f64 {
    create_many(world, count).await;
    let started = Instant::now();
    world.must(doc! { "dropDatabase": 1 }).await;
    started.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_many_collections_is_dropped_and_purged_in_linear_time() {
    let home = home();
    let world = World::open(home.path()).await.unwrap();
    let mut ratios = Vec::new();
    // A busy machine is given more than one try.
    for _ in 0..3 {
        let few = time_drop(&world, 300).await;
        let many = time_drop(&world, 2_400).await;
        ratios.push(many / few);
        if many / few < 24.0 {
            break;
        }
    }
    assert!(ratios.last().is_some_and(|ratio| *ratio < 24.0), "{ratios:?} of eight times as many");
    let started = Instant::now();
    while world.engine.unpurged() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{} are left",
            world.engine.unpurged()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_a_purge_and_the_next_start_goes_on_with_it() {
    let home = home();
    let world = World::open(home.path()).await.unwrap();
    create_many(&world, 1_000).await;
    let filler = "x".repeat(100);
    let documents: Vec<Document> =
        (0..20_000_i64).map(|id| doc! { "_id": id, "filler": &filler }).collect();
    world.must(doc! { "insert": "c0", "documents": documents }).await;
    world.must(doc! { "dropDatabase": 1 }).await;
    let started = Instant::now();
    world.close().await;
    assert!(started.elapsed() < STOP_MAX, "{:?}", started.elapsed());
    let world = World::open(home.path()).await.unwrap();
    while world.engine.unpurged() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{} are left",
            world.engine.unpurged()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(world.contents().await.unwrap().is_empty());
    world.close().await;
}

fn in_transaction(mut command: Document, session: i64, first: bool) -> Document {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&session.to_be_bytes());
    let uuid = bson::Uuid::from_bytes(id);
    command.insert("lsid", doc! { "id": uuid });
    command.insert("txnNumber", 1_i64);
    command.insert("autocommit", false);
    if first {
        command.insert("startTransaction", true);
    }
    command
}

fn insert(id: i64) -> Document {
    doc! { "insert": "c", "documents": [{ "_id": id }] }
}

/// A plain write must not wait for longer than one turn of the change that waits, and the
/// rest is for a busy machine.
const WRITE_MAX: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_waits_for_an_idle_transaction_lets_plain_writes_pass() {
    let home = home();
    let world = Arc::new(World::open(home.path()).await.unwrap());
    world.must(insert(0)).await;
    world.must(in_transaction(insert(1), 1, true)).await;
    let index = doc! { "createIndexes": "c", "indexes": [{ "name": "a", "key": { "a": 1 } }] };
    let building = tokio::spawn({
        let world = world.clone();
        async move { world.must(index).await }
    });
    let mut slowest = Duration::ZERO;
    let begun = Instant::now();
    for id in 2.. {
        let started = Instant::now();
        world.must(insert(id)).await;
        slowest = slowest.max(started.elapsed());
        if begun.elapsed() > Duration::from_secs(1) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(slowest < WRITE_MAX, "{slowest:?}");
    assert!(!building.is_finished());
    // Another transaction would keep it waiting for ever.
    let refused = world.run(in_transaction(insert(-1), 2, true)).await.unwrap_err();
    assert_eq!(refused.code(), Code::LockTimeout, "{refused:?}");
    let commit = in_transaction(doc! { "commitTransaction": 1 }, 1, false);
    world.run_on("admin", commit).await.unwrap();
    building.await.unwrap();
    world.must(in_transaction(insert(-2), 3, true)).await;
    let commit = in_transaction(doc! { "commitTransaction": 1 }, 3, false);
    world.run_on("admin", commit).await.unwrap();
    world.assert_valid().await;
    world.engine.close().await;
}

/// Documents in a commit of a build.
const CHUNK: u64 = 512;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_holds_no_old_view_and_no_more_than_a_few_commits() {
    let trees = Ages::new();
    let world = Arc::new(World::over(trees.clone()).await);
    let total = 40 * CHUNK as i64;
    for from in (0..total).step_by(4_096) {
        let documents: Vec<Document> =
            (from..total.min(from + 4_096)).map(|id| doc! { "_id": id, "a": id }).collect();
        world.must(doc! { "insert": "c", "documents": documents }).await;
    }
    trees.begin(Duration::from_millis(20));
    let index = doc! { "createIndexes": "c", "indexes": [{ "name": "a", "key": { "a": 1 } }] };
    let building = tokio::spawn({
        let world = world.clone();
        async move { world.must(index).await }
    });
    while !building.is_finished() {
        let progress =
            world.engine.operations.list().iter().find_map(|it| it.progress.get().cloned());
        if let Some(progress) = progress {
            let applied = trees.entries.load(Ordering::SeqCst);
            let done = progress.done.load(Ordering::SeqCst);
            assert!(done <= applied + 3 * CHUNK, "{done} documents, {applied} entries applied");
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    building.await.unwrap();
    let oldest = trees.oldest.load(Ordering::SeqCst);
    assert!(oldest < 25, "a view was {oldest} commits old");
    world.assert_valid().await;
    world.engine.close().await;
}

/// Entries in a commit of a build, before the next document begins another.
const CHUNK_ENTRIES: u64 = 2_048;
/// Index keys of each document.
const TAGS: i32 = 300;

#[tokio::test(flavor = "multi_thread")]
async fn a_build_over_long_arrays_commits_few_entries_at_a_time() {
    let trees = Ages::new();
    let world = World::over(trees.clone()).await;
    let tags: Vec<i32> = (0..TAGS).collect();
    let documents: Vec<Document> = (0..100_i64).map(|id| doc! { "_id": id, "a": &tags }).collect();
    world.must(doc! { "insert": "c", "documents": documents }).await;
    trees.begin(Duration::ZERO);
    let index = doc! { "name": "a", "key": { "a": 1 } };
    world.must(doc! { "createIndexes": "c", "indexes": [index] }).await;
    assert!(trees.entries.load(Ordering::SeqCst) >= 100 * TAGS as u64);
    let largest = trees.largest.load(Ordering::SeqCst);
    assert!(largest <= CHUNK_ENTRIES + TAGS as u64 + 10, "a batch of {largest} changes");
    world.assert_valid().await;
    world.close().await;
}
