//! Pages whose document is gone.

use super::*;

/// A document of one collection is deleted past the policy, with pages of two arrays.
#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_each_array_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let rule = rawdoc! { "max": 2, "on_limit": "overflow", "overflow": { "page": 2 } };
    let policy = rawdoc! { "arrays": { "a": rule.clone(), "b": rule } };
    run(&engine, rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }).await.unwrap();
    let document = rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5], "b": [1, 2, 3] };
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [document] }).await.unwrap();
    break_in(&engine, "c", RawBsonRef::Int32(1), |_| None).await;

    let reply = verify(&engine, true).await;
    assert_eq!(found(&reply), ["orphan 1 mended"; 3]);
    assert!(clean(&reply), "{reply:?}");
    let reply = verify(&engine, false).await;
    assert!(clean(&reply) && found(&reply).is_empty(), "what was said to be mended is: {reply:?}");
    engine.close().await;
}

/// Nobody knows where they belong, so a policy that is left stays for them until they are removed.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_not_left_while_there_are_some() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let rule = rawdoc! { "max": 2, "on_limit": "overflow" };
    let policy = rawdoc! { "arrays": { "a": rule } };
    run(&engine, rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }).await.unwrap();
    let [one, two] = [1, 2].map(|id| rawdoc! { "_id": id, "a": [1, 2, 3] });
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [one, two] }).await.unwrap();
    break_in(&engine, "c", RawBsonRef::Int32(1), |_| None).await;

    let restore = || rawdoc! { "dropGrowthPolicy": "c", "$db": "d", "restore": true };
    let reply = run(&engine, restore()).await.unwrap();
    assert_eq!(reply.get_i32("documents").unwrap(), 1);
    assert!(!reply.get_bool("dropped").unwrap());
    let reason = reply.get_str("reason").unwrap();
    assert!(reason.contains("'freeboard verify --repair' removes them"), "{reason}");
    engine.close().await;
    drop(engine);

    // It is being left after a restart, too.
    let engine = Engine::open(directory.path()).await.unwrap();
    let stored = run(&engine, rawdoc! { "getGrowthPolicy": "c", "$db": "d" }).await.unwrap();
    assert!(stored.get_bool("leaving").unwrap());
    let document = rawdoc! { "_id": 3, "a": [1, 2, 3] };
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [document] }).await.unwrap();
    assert_eq!(found(&verify(&engine, true).await), ["orphan 1 mended"]);
    let reply = run(&engine, restore()).await.unwrap();
    assert!(reply.get_bool("dropped").unwrap(), "{reply:?}");
    assert_eq!(reply.get_i32("documents").unwrap(), 0);
    engine.close().await;
}
