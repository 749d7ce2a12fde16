//! A sync under way: others write on, and what it promises is what it began with.

use crate::forgetful::Forgetful;
use crate::world::World;
use bson::doc;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sync_holds_nobody_up_and_promises_what_it_began_with() {
    let trees = Forgetful::new(1);
    let world = Arc::new(World::over(trees.clone()).await);
    world.must(doc! { "create": "c" }).await;
    trees.hold_syncs();
    let durable = doc! {
        "insert": "c", "documents": [{ "_id": 1_i64 }], "writeConcern": { "j": true },
    };
    let durable = tokio::spawn({
        let world = world.clone();
        async move { world.must(durable).await }
    });
    let waiting = trees.clone();
    tokio::task::spawn_blocking(move || waiting.wait_for_sync()).await.unwrap();

    let relaxed = doc! {
        "insert": "c", "documents": [{ "_id": 2_i64 }], "writeConcern": { "w": 1, "j": false },
    };
    world.must(relaxed).await;
    assert_eq!(world.contents().await.unwrap().len(), 2);
    assert!(!durable.is_finished());
    assert_eq!(world.count_synced("c").await, 0);

    trees.let_one_sync_through();
    durable.await.unwrap();
    assert_eq!(world.count_synced("c").await, 1);

    trees.let_syncs_through();
    world.engine.close().await;
    assert_eq!(world.count_synced("c").await, 2);
}
