//! Documents with very many index keys: their commits are as atomic as others, and no batch
//! holds other writers up.

use crate::ages::Ages;
use crate::forgetful::{Forgetful, POWER};
use crate::world::{Contents, World};
use bson::{Document, doc};
use engine::storage::CHANGES_AT_ONCE_MAX;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const COLLECTION: &str = "c";
/// More than are applied at once.
const KEYS: i32 = CHANGES_AT_ONCE_MAX as i32 + 4_000;
/// Calls of the storage that one write takes, roughly: its commit, a sync, its pieces.
const CALLS: std::ops::Range<u64> = 1..14;

fn tags(first: i32) -> Vec<i32> {
    (first..first + KEYS).collect()
}

fn insert(id: i64) -> Document {
    doc! { "insert": COLLECTION, "documents": [{ "_id": id, "tags": tags(0) }] }
}

/// The writes of a large document, each with whether it is there before.
fn writes() -> [(bool, Document); 3] {
    let update = doc! { "q": { "_id": 1_i64 }, "u": { "$set": { "tags": tags(KEYS / 2) } } };
    let delete = doc! { "q": { "_id": 1_i64 }, "limit": 1 };
    [
        (false, insert(1)),
        (true, doc! { "update": COLLECTION, "updates": [update] }),
        (true, doc! { "delete": COLLECTION, "deletes": [delete] }),
    ]
}

async fn prepare(world: &World, is_there: bool) -> Contents {
    let index = doc! { "name": "tags", "key": { "tags": 1 } };
    world.must(doc! { "createIndexes": COLLECTION, "indexes": [index] }).await;
    world.must(doc! { "insert": COLLECTION, "documents": [{ "_id": 2_i64, "tags": [7] }] }).await;
    if is_there {
        world.must(insert(1)).await;
    }
    world.contents().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_write_is_all_or_nothing_whenever_the_power_goes() {
    for (is_there, write) in writes() {
        let trees = Forgetful::new(1);
        let world = World::over(trees.clone()).await;
        let before = prepare(&world, is_there).await;
        world.close().await;
        let after = {
            let world = World::over(trees.restart()).await;
            world.must(write.clone()).await;
            world.assert_valid().await;
            let after = world.contents().await.unwrap();
            world.close().await;
            after
        };
        assert_ne!(before, after);
        for calls in CALLS {
            let trees = trees.restart();
            let world = World::over(trees.clone()).await;
            trees.lose_power_after(calls);
            let outcome = world.run(write.clone()).await;
            world.close().await;
            let world = World::over(trees.restart()).await;
            let found = world.contents().await.unwrap();
            match outcome {
                Ok(_) => assert_eq!(found, after, "acknowledged"),
                Err(error) => {
                    assert!(error.message().contains(POWER), "{error:?}");
                    assert!(found == before || found == after, "{calls} calls");
                }
            }
            world.assert_valid().await;
            world.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_write_is_seen_whole_and_is_no_large_batch() {
    let trees = Ages::new();
    let world = Arc::new(World::over(trees.clone()).await);
    prepare(&world, false).await;
    trees.begin(Duration::from_millis(60));
    for (_, write) in writes() {
        let before = distinct(&world).await;
        let large = tokio::spawn({
            let world = world.clone();
            async move { world.must(write).await }
        });
        // A client of its own, which does not wait for the reads: these take long.
        let under_way = Arc::new(AtomicBool::new(true));
        let other = tokio::spawn(world.clone().insert_others(under_way.clone()));
        let mut seen = Vec::new();
        while !large.is_finished() {
            seen.push(distinct(&world).await);
        }
        large.await.unwrap();
        under_way.store(false, Ordering::SeqCst);
        let others = other.await.unwrap();
        let after = distinct(&world).await;
        assert_ne!(before, after);
        assert!(seen.iter().all(|it| *it == before || *it == after), "{seen:?}");
        assert!(others > 1, "{others} others came between");
        world.must(doc! { "drop": "other" }).await;
    }
    world.assert_valid().await;
    let largest = trees.largest.load(Ordering::SeqCst) as usize;
    assert!(largest < CHANGES_AT_ONCE_MAX, "a batch of {largest} changes");
}

/// How many tags the index has, and their sum.
async fn distinct(world: &World) -> (usize, i64) {
    let find = doc! { "distinct": COLLECTION, "key": "tags" };
    let reply = world.must(find).await;
    let values = reply.get_array("values").unwrap();
    (values.len(), values.iter().map(|it| i64::from(it.as_i32().unwrap())).sum())
}

/// A client's own transaction meets no intent that its last write has left behind.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_is_in_nobodys_way() {
    let trees = Ages::new();
    let world = World::over(trees.clone()).await;
    prepare(&world, false).await;
    trees.begin(Duration::from_millis(5));
    world.must(insert(1)).await;
    let session = doc! { "id": bson::Uuid::new() };
    let update = doc! { "q": { "_id": 1_i64 }, "u": { "$set": { "n": 1 } } };
    let write = doc! {
        "update": COLLECTION, "updates": [update], "lsid": &session, "txnNumber": 1_i64,
        "startTransaction": true, "autocommit": false,
    };
    assert_eq!(world.must(write).await.get_i32("nModified").unwrap(), 1);
    let commit = doc! {
        "commitTransaction": 1, "lsid": &session, "txnNumber": 1_i64, "autocommit": false,
    };
    world.run_on("admin", commit).await.unwrap();
    world.must(doc! { "drop": COLLECTION }).await;
    world.close().await;
}
