//! Transactions that write very many documents: their commits are as atomic as others, and no
//! batch holds other writers up.

use crate::ages::Ages;
use crate::forgetful::{Forgetful, POWER};
use crate::world::World;
use bson::{Document, doc};
use engine::storage::trees::Trees;
use engine::storage::{CHANGES_AT_ONCE_MAX, Tree, keys};
use error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// More than are applied at once, each with a record and an entry.
const DOCUMENTS: i64 = CHANGES_AT_ONCE_MAX as i64;
/// Long enough that what is deferred is stored ahead of its commit.
const TEXT_BYTES: usize = 300;
/// Calls of the storage that a commit takes, roughly: what is stored ahead of it, the commit, a
/// sync, its pieces.
const CALLS: std::ops::Range<u64> = 1..28;

/// One that is there before, and one that the transaction makes.
const COLLECTIONS: [&str; 2] = ["old", "new"];

async fn prepare(world: &World) {
    world.must(doc! { "insert": "old", "documents": [{ "_id": -1_i64 }] }).await;
}

fn in_transaction(mut command: Document, session: &Document) -> Document {
    command.extend(doc! { "lsid": session, "txnNumber": 1_i64, "autocommit": false });
    command
}

/// Everything but the commit.
async fn begin(world: &World, collection: &str) -> Document {
    let session = doc! { "id": bson::Uuid::new() };
    let text = "x".repeat(TEXT_BYTES);
    let documents: Vec<_> = (0..DOCUMENTS).map(|id| doc! { "_id": id, "text": &text }).collect();
    let mut insert = doc! { "insert": collection, "documents": documents };
    insert.insert("startTransaction", true);
    world.must(in_transaction(insert, &session)).await;
    session
}

async fn commit(world: &World, session: &Document) -> Result<Document, Error> {
    world.run_on("admin", in_transaction(doc! { "commitTransaction": 1 }, session)).await
}

/// How many of the documents are there, by their records and by the index of their `_id`s.
async fn seen(world: &World, collection: &str) -> (i64, i64) {
    let count = |query: Document, hint: &str| {
        let hint = if hint == "$natural" {
            doc! { hint: 1 }
        } else {
            doc! { "_id": 1 }
        };
        doc! { "count": collection, "query": query, "hint": hint }
    };
    let text = doc! { "text": { "$exists": true } };
    let records = world.must(count(text, "$natural")).await;
    let entries = world.must(count(doc! { "_id": { "$gte": 0_i64 } }, "_id")).await;
    let number = |reply: Document| i64::from(reply.get_i32("n").unwrap());
    (number(records), number(entries))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_transaction_is_all_or_nothing_whenever_the_power_goes() {
    for collection in COLLECTIONS {
        let trees = Forgetful::new(1);
        let world = World::over(trees.clone()).await;
        prepare(&world).await;
        world.close().await;
        for calls in CALLS {
            let trees = trees.restart();
            let world = World::over(trees.clone()).await;
            let session = begin(&world, collection).await;
            trees.lose_power_after(calls);
            let outcome = commit(&world, &session).await;
            world.close().await;
            let world = World::over(trees.restart()).await;
            let found = seen(&world, collection).await;
            match outcome {
                Ok(_) => assert_eq!(found, (DOCUMENTS, DOCUMENTS), "acknowledged"),
                Err(error) => {
                    assert!(error.message().contains(POWER), "{error:?}");
                    let whole = [(0, 0), (DOCUMENTS, DOCUMENTS)];
                    assert!(whole.contains(&found), "{calls} calls: {found:?}");
                }
            }
            world.assert_valid().await;
            world.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_transaction_is_seen_whole_and_is_no_large_batch() {
    for collection in COLLECTIONS {
        let trees = Ages::new();
        let world = Arc::new(World::over(trees.clone()).await);
        prepare(&world).await;
        let session = begin(&world, collection).await;
        trees.begin(Duration::from_millis(20));
        let large = tokio::spawn({
            let world = world.clone();
            async move { commit(&world, &session).await.unwrap() }
        });
        // A client of its own, which does not wait for the reads: these take long.
        let under_way = Arc::new(AtomicBool::new(true));
        let other = tokio::spawn(world.clone().insert_others(under_way.clone()));
        while !large.is_finished() {
            let found = seen(&world, collection).await;
            // The commit may come between the two reads.
            let whole = [(0, 0), (0, DOCUMENTS), (DOCUMENTS, DOCUMENTS)];
            assert!(whole.contains(&found), "{found:?}");
        }
        large.await.unwrap();
        under_way.store(false, Ordering::SeqCst);
        let others = other.await.unwrap();
        assert_eq!(seen(&world, collection).await, (DOCUMENTS, DOCUMENTS));
        assert!(others > 1, "{others} others came between");
        let largest = trees.largest.load(Ordering::SeqCst) as usize;
        assert!(largest < CHANGES_AT_ONCE_MAX / 2, "a batch of {largest} changes");
        world.must(doc! { "drop": collection }).await;
        world.must(doc! { "drop": "other" }).await;
        world.assert_valid().await;
        world.engine.close().await;
    }
}

/// Another client finds a document as soon as its commit is there, before all of it is in the
/// trees, and what it writes stays.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_to_what_was_inserted_stays() {
    let trees = Ages::new();
    let world = Arc::new(World::over(trees.clone()).await);
    prepare(&world).await;
    let session = begin(&world, "old").await;
    trees.begin(Duration::from_millis(10));
    let large = tokio::spawn({
        let world = world.clone();
        async move { commit(&world, &session).await.unwrap() }
    });
    wait_for_mark(&trees, &large).await;
    let last = doc! { "_id": DOCUMENTS - 1 };
    let change = doc! { "q": &last, "u": { "$set": { "text": "other" } } };
    let reply = world.must(doc! { "update": "old", "updates": [change] }).await;
    assert_eq!(reply.get_i32("nModified").unwrap(), 1);
    large.await.unwrap();
    let changed = doc! { "count": "old", "query": { "text": "other" } };
    assert_eq!(world.must(changed).await.get_i32("n").unwrap(), 1);
    world.assert_valid().await;
    world.engine.close().await;
}

fn marks(trees: &Ages) -> usize {
    trees.snapshot().range(Tree::Records, keys::rows(keys::DEFERRED_ROWS)).count()
}

async fn wait_for_mark(trees: &Ages, large: &JoinHandle<Document>) {
    while marks(trees) == 0 {
        assert!(!large.is_finished(), "it is seen before all of it is in the trees");
        tokio::task::yield_now().await;
    }
}

/// What was made is dropped only once all of it is in the trees.
#[tokio::test(flavor = "multi_thread")]
async fn a_drop_waits_for_what_is_still_to_follow() {
    let trees = Ages::new();
    let world = Arc::new(World::over(trees.clone()).await);
    let session = begin(&world, "new").await;
    trees.begin(Duration::from_millis(10));
    let large = tokio::spawn({
        let world = world.clone();
        async move { commit(&world, &session).await.unwrap() }
    });
    wait_for_mark(&trees, &large).await;
    world.must(doc! { "drop": "new" }).await;
    assert_eq!(marks(&trees), 0);
    large.await.unwrap();
    assert_eq!(world.collections().await.unwrap(), Vec::<String>::new());
    world.engine.close().await;
}
