//! Below the reserve of free space, writes that take room are refused.

use crate::copy::home;
use crate::forgetful::Forgetful;
use crate::world::World;
use bson::{Document, doc};
use error::Code;
use rand::{RngCore, SeedableRng, rngs::StdRng};
use std::path::Path;
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

/// What the tables and blobs of a store take.
fn tables_bytes(directory: &Path) -> u64 {
    let keyspaces = directory.join("trees/keyspaces");
    let length = |file| std::fs::metadata(keyspaces.join(file)).map_or(0, |file| file.len());
    crate::copy::files(&keyspaces).iter().map(length).sum()
}

async fn fill(world: &World, random: &mut StdRng, megabytes: i64) {
    for megabyte in 0..megabytes {
        let mut documents = Vec::new();
        for number in 0..50 {
            let mut bytes = vec![0; 20_000];
            random.fill_bytes(&mut bytes);
            let bytes = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes };
            documents.push(doc! { "_id": megabyte * 50 + number, "a": number, "bytes": bytes });
        }
        world.must(doc! { "insert": "c", "documents": documents }).await;
    }
}

/// Room that a drop, or deletes, give back when that is what everyone waits for.
async fn gives_room_back(command: Document, within: Duration) {
    let home = home();
    let world = World::open(home.path()).await.unwrap();
    let mut random = StdRng::seed_from_u64(1);
    let kept: Vec<Document> = (0..200_i64).map(|id| doc! { "_id": id, "a": "kept" }).collect();
    world.must(doc! { "insert": "kept", "documents": &kept }).await;
    fill(&world, &mut random, 24).await;
    world.close().await;
    let world = World::open(home.path()).await.unwrap();
    let before = tables_bytes(home.path());
    assert!(before > 20_000_000, "{before}");
    world.engine.store.space().set_reserve(u64::MAX);
    world.must(command).await;
    let started = Instant::now();
    while tables_bytes(home.path()) > before / 4 {
        assert!(started.elapsed() < within, "{} bytes of {before}", tables_bytes(home.path()));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(world.contents().await.unwrap().len(), kept.len());
    world.assert_valid().await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drop_below_the_reserve_gives_its_room_back_soon() {
    gives_room_back(doc! { "drop": "c" }, Duration::from_secs(15)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_below_the_reserve_give_their_room_back() {
    let all = doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] };
    gives_room_back(all, Duration::from_secs(45)).await;
}
