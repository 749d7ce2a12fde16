use super::super::handler;
use super::*;
use crate::Engine;
use crate::session::Standing;
use bson::{RawDocumentBuf, rawdoc};
use command::{Client, Common, Request};

async fn run(engine: &Arc<Engine>, command: RawDocumentBuf) {
    let client = Arc::new(Client::new(1, "127.0.0.1:1".parse().unwrap()));
    engine.run(Request::from(command), &client).await.unwrap();
}

/// A mirror that has been built since may have entries that the view lacks.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_goes_by_the_indexes_that_it_was_prepared_with() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow" } } };
    run(&engine, rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }).await;
    let document = rawdoc! { "_id": 1, "a": [{ "n": 1 }, { "n": 2 }, { "n": 3 }] };
    run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [document] }).await;

    let stage = rawdoc! { "$match": { "a.n": 3 } };
    let request =
        Request::from(rawdoc! { "aggregate": "c", "$db": "d", "pipeline": [stage], "cursor": {} });
    let client = Arc::new(Client::new(1, "127.0.0.1:1".parse().unwrap()));
    let running = engine.operations.begin(request.clone(), &client, None);
    let common = Common::parse(&request, handler("aggregate").unwrap().0).unwrap();
    let call = Call {
        engine: &engine,
        request: &request,
        common: &common,
        client: &client,
        operation: &running.operation,
        standing: &Standing::Plain,
        moment: None,
    };
    let mut prepared = prepare(call, &Aggregate::parse(&request).unwrap()).unwrap();
    let index = rawdoc! { "key": { "a.n": 1 }, "name": "a.n_1" };
    run(&engine, rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [index] }).await;

    let query = prepared.query(Audience::Client).unwrap();
    let paged = query.paged.unwrap();
    let pages = paged.arrays[0].pages.as_ref().unwrap();
    assert!(pages.indexes.iter().all(|index| index.name != "a.n_1"));
    let newest = engine.registry.get(&pages.namespace).unwrap();
    assert!(newest.indexes.iter().any(|index| index.name == "a.n_1"));
    engine.close().await;
}
