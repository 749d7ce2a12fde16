//! A failed write or sync: no more writes, and reads go on.

use crate::forgetful::{Forgetful, POWER};
use crate::world::World;
use bson::doc;

async fn fails_for_good(calls: u64) {
    let trees = Forgetful::new(1);
    let world = World::over(trees.clone()).await;
    world.must(doc! { "insert": "c", "documents": [{ "_id": 1_i64 }] }).await;
    assert_eq!(world.engine.health(), Ok(()));
    trees.lose_power_after(calls);
    let first = world.run(doc! { "insert": "c", "documents": [{ "_id": 2_i64 }] }).await;
    // One call more works again, but nobody is to rely on it.
    trees.lose_power_after(u64::MAX);
    let update = doc! { "q": { "_id": 1_i64 }, "u": { "$set": { "a": 1 } } };
    for command in [
        doc! { "insert": "c", "documents": [{ "_id": 3_i64 }] },
        doc! { "update": "c", "updates": [update] },
        doc! { "delete": "c", "deletes": [{ "q": { "_id": 1_i64 }, "limit": 1 }] },
        doc! { "create": "other" },
    ] {
        let error = world.run(command).await.unwrap_err();
        assert!(error.message().contains(POWER), "{error:?}");
        assert!(error.message().contains("takes no more writes"), "{error:?}");
    }
    assert!(first.unwrap_err().message().contains(POWER));
    assert!(world.engine.store.failure().borrow().is_some());
    let fault = world.engine.health().unwrap_err();
    assert!(fault.contains(POWER) && fault.contains("takes no more writes"), "{fault}");
    let contents = world.contents().await.unwrap();
    assert!(contents.contains_key(&("c".to_owned(), 1)));
    world.close().await;
    // What had been acknowledged is there after a restart, whole.
    let world = World::over(trees.restart()).await;
    let contents = world.contents().await.unwrap();
    assert_eq!(contents[&("c".to_owned(), 1)], doc! { "_id": 1_i64 });
    assert!(!contents.contains_key(&("c".to_owned(), 3)));
    world.assert_valid().await;
    world.close().await;
}

#[tokio::test]
async fn a_failed_write_ends_all_writing() {
    fails_for_good(1).await;
}

#[tokio::test]
async fn a_failed_sync_ends_all_writing() {
    fails_for_good(2).await;
}

#[tokio::test]
async fn nobody_knows_how_a_commit_ended_whose_sync_failed() {
    let trees = Forgetful::new(1);
    let world = World::over(trees.clone()).await;
    world.must(doc! { "create": "c" }).await;
    let session = doc! { "id": bson::Uuid::from_bytes([7; 16]) };
    let number = doc! { "lsid": session, "txnNumber": 1_i64, "autocommit": false };
    let mut insert = doc! { "insert": "c", "documents": [{ "_id": 1_i64 }] };
    insert.extend(number.clone());
    insert.insert("startTransaction", true);
    world.must(insert).await;
    // The commit is applied, and then synced.
    trees.lose_power_after(2);
    let mut commit = doc! { "commitTransaction": 1 };
    commit.extend(number);
    let error = world.run_on("admin", commit).await.unwrap_err();
    assert_eq!(error.labels(), ["UnknownTransactionCommitResult"], "{error:?}");
    world.close().await;
}
