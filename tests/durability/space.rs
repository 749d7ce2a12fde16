//! Below the reserve of free space, writes that take room are refused.

use crate::forgetful::Forgetful;
use crate::world::World;
use bson::{Document, doc};
use error::Code;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn growing() -> [Document; 5] {
    let update = doc! { "q": { "_id": 1_i64 }, "u": { "$set": { "a": 1 } } };
    let index = doc! { "name": "a", "key": { "a": 1 } };
    [
        doc! { "insert": "c", "documents": [{ "_id": 9_i64 }] },
        doc! { "update": "c", "updates": [update] },
        doc! { "findAndModify": "c", "query": { "_id": 1_i64 }, "update": { "b": 1 } },
        doc! { "create": "other" },
        doc! { "createIndexes": "c", "indexes": [index] },
    ]
}

/// A look at the file system holds for a while.
async fn until(world: &World, command: Document, refused: bool) {
    let started = Instant::now();
    while world.run(command.clone()).await.is_err() != refused {
        assert!(started.elapsed() < Duration::from_secs(30), "nothing changed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn below_the_reserve_only_deletes_and_drops_are_taken() {
    let trees = Forgetful::new(1);
    let world = World::over(trees.clone()).await;
    world.engine.store.space().set_reserve(1_000);
    for collection in ["c", "d"] {
        let documents = [1, 2, 3_i64].map(|id| doc! { "_id": id });
        world.must(doc! { "insert": collection, "documents": documents.to_vec() }).await;
    }
    trees.free_bytes.store(999, Ordering::Relaxed);
    let again = doc! { "update": "c", "updates": [{ "q": { "_id": 1_i64 }, "u": { "x": 1 } }] };
    until(&world, again.clone(), true).await;
    for command in growing() {
        let error = world.run(command).await.unwrap_err();
        assert_eq!(error.code(), Code::OutOfDiskSpace, "{error:?}");
        assert!(error.message().contains("999 bytes free"), "{error:?}");
    }
    world.must(doc! { "delete": "c", "deletes": [{ "q": { "_id": 3_i64 }, "limit": 1 }] }).await;
    world.must(doc! { "drop": "d" }).await;
    assert_eq!(world.contents().await.unwrap().len(), 2);
    trees.free_bytes.store(1_000, Ordering::Relaxed);
    until(&world, again, false).await;
    for command in growing() {
        world.must(command).await;
    }
    world.assert_valid().await;
    world.close().await;
}
