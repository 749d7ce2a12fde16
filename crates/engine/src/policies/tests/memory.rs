//! What completed documents take of the memory budget.

use super::*;
use budget::{Held, Kind};

#[tokio::test(flavor = "multi_thread")]
async fn a_completed_document_is_counted() {
    const ITEM_BYTES: usize = 1024 * 1024;
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let rule = rawdoc! { "max": 1, "on_limit": "overflow" };
    let policy = rawdoc! { "arrays": { "a": rule } };
    run(&engine, rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }).await.unwrap();
    let document = rawdoc! { "_id": 1, "a": ["x"] };
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [document] }).await.unwrap();
    for _ in 0..12 {
        let push = rawdoc! { "$push": { "a": "y".repeat(ITEM_BYTES) } };
        let update = rawdoc! { "q": { "_id": 1 }, "u": push };
        run(&engine, rawdoc! { "update": "c", "$db": "d", "updates": [update] }).await.unwrap();
    }
    let count = || rawdoc! { "count": "c", "$db": "d", "query": { "a": { "$ne": "z" } } };
    let n = |reply: RawDocumentBuf| reply.get_i32("n").unwrap();
    assert_eq!(n(run(&engine, count()).await.unwrap()), 1);

    // There is room for some of its pages.
    let budget = budget::process();
    budget.set_memory(1 << 30);
    let mut others = Held::new(Kind::Work);
    let most = (budget.limit_bytes() / 4 * 3) as usize;
    others.resize(most - 6 * ITEM_BYTES).unwrap();
    let refused = run(&engine, count()).await.unwrap_err();
    assert_eq!(refused.code(), Code::ExceededMemoryLimit);
    drop(others);
    assert_eq!(n(run(&engine, count()).await.unwrap()), 1);
    assert_eq!(budget.held_bytes(Kind::Work), 0, "all was given back");
    budget.set_memory(u64::MAX);
    engine.close().await;
}
