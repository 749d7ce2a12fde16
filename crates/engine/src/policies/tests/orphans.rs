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
