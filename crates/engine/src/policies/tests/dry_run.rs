//! A dry run is a transaction that is rolled back: nothing of it stays.

use super::{namespace, run};
use crate::Engine;
use bson::{RawDocumentBuf, rawdoc};
use std::sync::Arc;

/// What a batch says of itself, without what only a dry run knows.
fn figures(reply: &RawDocumentBuf) -> Vec<i32> {
    let names = ["examined", "documents", "elements", "pages", "bytes", "dropped", "stillOver"];
    names.into_iter().map(|name| reply.get_i32(name).unwrap()).collect()
}

async fn filled(directory: &tempfile::TempDir) -> Arc<Engine> {
    let engine = Engine::open(directory.path()).await.unwrap();
    for id in 0..5 {
        let items: bson::RawArrayBuf = (0..20 * id).collect();
        let document = rawdoc! { "_id": id, "a": items, "log": [1, 2, 3] };
        let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [document] };
        run(&engine, insert).await.unwrap();
    }
    let index = rawdoc! { "key": { "a": 1 }, "name": "a" };
    let create = rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [index] };
    run(&engine, create).await.unwrap();
    engine
}

fn policy() -> RawDocumentBuf {
    rawdoc! { "arrays": {
        "a": { "max": 10, "on_limit": "overflow", "overflow": { "into": "p", "page": 7 } },
        "log": { "max": 2, "on_limit": "drop_oldest" },
    } }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_and_nothing_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let find = rawdoc! { "find": "c", "$db": "d" };
    let before = run(&engine, find.clone()).await.unwrap();
    let commits = engine.store.applied();
    let dry = rawdoc! { "migrateGrowth": "c", "$db": "d", "dryRun": true, "policy": policy() };
    let tried = run(&engine, dry.clone()).await.unwrap();
    // Once more: it holds nothing, and has left nothing behind.
    assert_eq!(figures(&run(&engine, dry).await.unwrap()), figures(&tried));
    assert_eq!(engine.store.applied(), commits);
    assert!(engine.registry.get(&namespace("p")).is_none());
    assert!(engine.policies.get(&namespace("c")).is_none());
    let documents = |reply: &RawDocumentBuf| {
        reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap().to_owned()
    };
    assert_eq!(documents(&run(&engine, find).await.unwrap()), documents(&before));
    assert_eq!(figures(&tried), [5, 5, 160, 25, tried.get_i32("bytes").unwrap(), 5, 0]);
    // Each element leaves the index and comes into its mirror; each page has an entry.
    assert_eq!(tried.get_i32("indexEntries").unwrap(), 160 + 160 + 25);
    // The run does what it said.
    let set = rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy() };
    run(&engine, set).await.unwrap();
    let done = run(&engine, rawdoc! { "migrateGrowth": "c", "$db": "d" }).await.unwrap();
    assert_eq!(figures(&done), figures(&tried));
    // Under the policy that is set, it goes by the pages that are there.
    let dry = rawdoc! { "migrateGrowth": "c", "$db": "d", "dryRun": true };
    assert_eq!(run(&engine, dry).await.unwrap().get_i32("documents").unwrap(), 0);
    engine.close().await;
}
