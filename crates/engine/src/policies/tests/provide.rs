//! What policies need comes and goes with them.

use super::*;

/// Whoever makes an index mirrors it on the pages, which may have gone with their policy by then.
#[tokio::test(flavor = "multi_thread")]
async fn pages_that_are_gone_do_not_come_back_with_an_index() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": 1, "a": [1] }] };
    run(&engine, insert).await.unwrap();
    for round in 0..40 {
        engine.set_policy(&namespace("c"), &policy()).await.unwrap();
        let index = rawdoc! { "key": { "a.x": 1 }, "name": "x" };
        let create = rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [index] };
        let drop = rawdoc! { "dropGrowthPolicy": "c", "$db": "d" };
        let (created, dropped) = tokio::join!(run(&engine, create), run(&engine, drop));
        created.unwrap();
        dropped.unwrap();
        assert!(engine.registry.get(&namespace("c_a")).is_none(), "round {round}");
        assert!(engine.registry.get(&namespace("c_a_all")).is_none(), "round {round}");
        run(&engine, rawdoc! { "dropIndexes": "c", "$db": "d", "index": "x" }).await.unwrap();
    }
    engine.close().await;
}

/// Pages whose indexes are missing get them before the policy is set: those that hold documents
/// by a build, and the others at once.
#[tokio::test(flavor = "multi_thread")]
async fn pages_have_their_indexes_once_a_policy_is_set() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let index = "parentId_1_page_1_count_1".to_owned();
    engine.remove_indexes(&namespace("c_a"), std::slice::from_ref(&index)).await.unwrap();
    engine.set_policy(&namespace("c"), &policy()).await.unwrap();
    let pages = engine.registry.get(&namespace("c_a")).unwrap();
    assert!(pages.indexes.iter().any(|it| it.name == index && it.ready));
    assert!(clean(&verify(&engine, false).await));

    run(&engine, rawdoc! { "insert": "x_a", "$db": "d", "documents": [{ "_id": 1 }] })
        .await
        .unwrap();
    let delete = rawdoc! { "q": {}, "limit": 0 };
    run(&engine, rawdoc! { "delete": "x_a", "$db": "d", "deletes": [delete] }).await.unwrap();
    engine.set_policy(&namespace("x"), &policy_of(&namespace("x"))).await.unwrap();
    let pages = engine.registry.get(&namespace("x_a")).unwrap();
    assert!(pages.indexes.iter().any(|it| it.name == index && it.ready));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_of_one_database_are_set_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let setting = (0..8).map(|task| {
        let engine = engine.clone();
        tokio::spawn(async move {
            for round in 0..10 {
                // Some have a collection to themselves, and some have it with others.
                let name = namespace(&format!("c{}", task % 5));
                engine.set_policy(&name, &policy_of(&name)).await.unwrap();
                if round % 3 == 2 {
                    engine.drop_policy(&name).await.unwrap();
                }
            }
        })
    });
    let setting: Vec<_> = setting.collect();
    let all = async {
        for set in setting {
            set.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(120), all).await.expect("somebody waits for ever");
    let catalog = engine.registry.current();
    for number in 0..5 {
        let is_set = engine.policies.get(&namespace(&format!("c{number}"))).is_some();
        for made in [format!("c{number}_a"), format!("c{number}_a_all")] {
            assert_eq!(catalog.get(&namespace(&made)).is_some(), is_set, "{made}");
        }
    }
    engine.close().await;
}
