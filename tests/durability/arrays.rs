//! Where an index has met arrays is known after a restart, too: else a range over an array would
//! be searched as one over a single value, and documents be missed.

use crate::copy::home;
use crate::world::World;
use bson::{Bson, Document, doc};

/// In which both ends of a range are met by different elements.
fn across(path: &str) -> Document {
    doc! { "find": "c", "filter": { path: { "$gt": 2, "$lt": 8 } }, "projection": { "_id": 1 } }
}

async fn found(world: &World, path: &str) -> usize {
    let reply = world.must(across(path)).await;
    reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap().len()
}

async fn insert_array(world: &World, id: i64) {
    let document = doc! { "_id": id, "a": [1, 9], "w": { "b": [{ "c": 1 }, { "c": 9 }] } };
    world.must(doc! { "insert": "c", "documents": [document] }).await;
}

async fn create_indexes(world: &World) {
    let indexes: Vec<Bson> = vec![
        doc! { "key": { "a": 1 }, "name": "a" }.into(),
        doc! { "key": { "w.$**": 1 }, "name": "w" }.into(),
    ];
    world.must(doc! { "createIndexes": "c", "indexes": indexes }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arrays_are_found_after_a_restart() {
    let home = home();
    let world = World::open(home.path()).await.unwrap();
    create_indexes(&world).await;
    insert_array(&world, 1).await;
    world.close().await;
    let world = World::open(home.path()).await.unwrap();
    assert_eq!((found(&world, "a").await, found(&world, "w.b.c").await), (1, 1));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rolled_back_transaction_met_is_stored_by_the_next_write() {
    let home = home();
    let world = World::open(home.path()).await.unwrap();
    create_indexes(&world).await;
    let session = doc! { "id": bson::Uuid::from_bytes([7; 16]) };
    let document = doc! { "_id": 2_i64, "a": [1, 9], "w": { "b": [{ "c": 1 }, { "c": 9 }] } };
    let insert = doc! {
        "insert": "c", "documents": [document], "lsid": &session, "txnNumber": 1_i64,
        "startTransaction": true, "autocommit": false,
    };
    world.must(insert).await;
    let abort = doc! {
        "abortTransaction": 1, "lsid": &session, "txnNumber": 1_i64, "autocommit": false,
    };
    world.run_on("admin", abort).await.unwrap();
    // An index that is altered is another object.
    for (name, hidden) in [("a", true), ("a", false), ("w", true), ("w", false)] {
        let index = doc! { "name": name, "hidden": hidden };
        world.must(doc! { "collMod": "c", "index": index }).await;
    }
    insert_array(&world, 1).await;
    world.close().await;
    let world = World::open(home.path()).await.unwrap();
    assert_eq!((found(&world, "a").await, found(&world, "w.b.c").await), (1, 1));
    world.close().await;
}
