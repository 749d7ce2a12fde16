//! What sessions keep over a restart, and how it goes.

use super::SessionId;
use crate::Engine;
use bson::{RawDocument, RawDocumentBuf, rawdoc};
use command::{Client, Request};
use error::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SESSION: SessionId = *b"a session's name";

async fn open(directory: &Path) -> Arc<Engine> {
    Engine::open(directory).await.expect("a store")
}

async fn run(engine: &Arc<Engine>, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
    let client = Arc::new(Client::new(1, SocketAddr::from((Ipv4Addr::LOCALHOST, 1))));
    engine.run(Request::from(body), &client).await.map(|reply| reply.body)
}

fn lsid() -> RawDocumentBuf {
    rawdoc! { "id": bson::Binary::from(bson::Uuid::from_bytes(SESSION)) }
}

fn increment(number: i64) -> RawDocumentBuf {
    rawdoc! {
        "findAndModify": "c", "$db": "d", "query": { "_id": 1 }, "update": { "$inc": { "n": 1 } },
        "new": true, "upsert": true, "lsid": lsid(), "txnNumber": number,
    }
}

fn insert(id: i32, number: i64, start: bool) -> RawDocumentBuf {
    let mut body = rawdoc! {
        "insert": "c", "$db": "d", "documents": [{ "_id": id }], "lsid": lsid(),
        "txnNumber": number, "autocommit": false,
    };
    if start {
        body.append(bson::cstr!("startTransaction"), true);
    }
    body
}

fn commit(number: i64) -> RawDocumentBuf {
    rawdoc! { "commitTransaction": 1, "$db": "admin", "lsid": lsid(), "txnNumber": number, "autocommit": false }
}

fn count(reply: &RawDocument) -> i32 {
    reply.get_document("value").unwrap().get_i32("n").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_answered_from_its_record_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    assert_eq!(count(&run(&engine, increment(7)).await.unwrap()), 1);
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    let again = run(&engine, increment(7)).await.unwrap();
    assert_eq!((count(&again), again.get_i32("retriedStmtId").unwrap()), (1, 0));
    assert_eq!(run(&engine, increment(6)).await.unwrap_err().code().number(), 225);
    assert_eq!(count(&run(&engine, increment(8)).await.unwrap()), 2);
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_answer_is_kept_out_of_line() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let body = rawdoc! {
        "findAndModify": "c", "$db": "d", "query": { "_id": 1 }, "new": true, "upsert": true,
        "update": { "$set": { "x": "x".repeat(1_000_000) } }, "lsid": lsid(), "txnNumber": 1_i64,
    };
    let first = run(&engine, body.clone()).await.unwrap();
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    let again = run(&engine, body).await.unwrap();
    assert_eq!(again.get_document("value").unwrap(), first.get_document("value").unwrap());
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_remembered_over_a_restart_and_an_open_transaction_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    run(&engine, insert(1, 3, true)).await.unwrap();
    run(&engine, commit(3)).await.unwrap();
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    run(&engine, commit(3)).await.expect("it was committed");
    assert_eq!(run(&engine, insert(2, 3, false)).await.unwrap_err().code().number(), 256);
    run(&engine, insert(2, 4, true)).await.unwrap();
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    let error = run(&engine, commit(4)).await.unwrap_err();
    assert_eq!(
        (error.code().number(), error.labels()),
        (251, ["TransientTransactionError"].as_slice())
    );
    let reply = run(&engine, rawdoc! { "count": "c", "$db": "d" }).await.unwrap();
    assert_eq!(reply.get_i32("n").unwrap(), 1);
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_sessions_and_their_records_go() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    run(&engine, increment(1)).await.unwrap();
    run(&engine, insert(5, 2, true)).await.unwrap();
    engine.expire_sessions(Duration::from_secs(60));
    assert_eq!(
        (engine.sessions.list().unwrap().len(), engine.sessions.open_transactions()),
        (1, 1)
    );
    engine.expire_sessions(Duration::ZERO);
    assert_eq!(
        (engine.sessions.list().unwrap().len(), engine.sessions.open_transactions()),
        (0, 0)
    );
    // The record outlives what is in memory, and goes when it is old.
    engine.expire_records(None, Duration::from_secs(60)).await.unwrap();
    let again = run(&engine, increment(1)).await.unwrap();
    assert_eq!((count(&again), again.get_i32("retriedStmtId").unwrap()), (1, 0));
    engine.expire_sessions(Duration::ZERO);
    engine.expire_records(None, Duration::ZERO).await.unwrap();
    engine.expire_sessions(Duration::ZERO);
    let anew = run(&engine, increment(1)).await.unwrap();
    assert_eq!(count(&anew), 2, "nothing is known of the first");
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_lives_too_long_is_aborted() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    run(&engine, insert(1, 1, true)).await.unwrap();
    engine.expire_transactions(Duration::from_secs(60));
    run(&engine, insert(2, 1, false)).await.expect("it is young");
    engine.expire_transactions(Duration::ZERO);
    let error = run(&engine, insert(3, 1, false)).await.unwrap_err();
    assert_eq!(error.code().number(), 251);
    // Its intents are free again.
    let plain = rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": 1 }] };
    assert_eq!(run(&engine, plain).await.unwrap().get_i32("n").unwrap(), 1);
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_weighs_too_much_is_aborted() {
    const TEXT_BYTES: usize = 16_000_000;
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let text = "x".repeat(TEXT_BYTES);
    let insert = |id: i32| {
        let mut body = rawdoc! {
            "insert": "c", "$db": "d", "documents": [{ "_id": id, "text": text.as_str() }],
            "lsid": lsid(), "txnNumber": 1_i64, "autocommit": false,
        };
        if id == 0 {
            body.append(bson::cstr!("startTransaction"), true);
        }
        body
    };
    let fitting = (crate::transaction::TRANSACTION_BYTES_MAX / TEXT_BYTES) as i32;
    for id in 0..fitting {
        run(&engine, insert(id)).await.unwrap();
    }
    let error = run(&engine, insert(fitting)).await.unwrap_err();
    assert_eq!(error.code(), error::Code::TransactionTooLargeForCache);
    let error = run(&engine, commit(1)).await.unwrap_err();
    assert_eq!(error.code(), error::Code::NoSuchTransaction);
    let count = run(&engine, rawdoc! { "count": "c", "$db": "d" }).await.unwrap();
    assert_eq!(count.get_i32("n").unwrap(), 0);
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_is_shown_with_its_transaction() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": 1 }] }).await.unwrap();
    // It runs until it is killed.
    let range = rawdoc! { "$range": [0, 1_000_000] };
    let inner = rawdoc! { "$size": { "$map": { "input": range.clone(), "in": "$$this" } } };
    let endless = rawdoc! { "$map": { "input": range, "in": inner } };
    let find = rawdoc! {
        "find": "c", "$db": "d", "filter": { "$expr": { "$eq": [endless, []] } },
        "lsid": lsid(), "txnNumber": 9_i64, "autocommit": false, "startTransaction": true,
    };
    let (found, ()) = tokio::join!(
        tokio::spawn({
            let engine = engine.clone();
            async move { run(&engine, find).await }
        }),
        async {
            let current = rawdoc! {
                "currentOp": 1, "$db": "admin", "active": true, "op": "query",
                "transaction.parameters.txnNumber": 9_i64,
            };
            loop {
                let shown = run(&engine, current.clone()).await.unwrap();
                let operations = shown.get_array("inprog").unwrap();
                if let Some(operation) = operations.into_iter().next() {
                    let operation = operation.unwrap().as_document().unwrap();
                    let kill = rawdoc! {
                        "killOp": 1, "$db": "admin", "op": operation.get_i32("opid").unwrap(),
                    };
                    run(&engine, kill).await.unwrap();
                    return;
                }
                tokio::task::yield_now().await;
            }
        }
    );
    assert_eq!(found.unwrap().unwrap_err().code(), error::Code::Interrupted);
    engine.close().await;
}
