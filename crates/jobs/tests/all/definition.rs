//! Options and indexes of a collection go with its documents.

use crate::place::Place;
use bson::{Document, doc, rawdoc};
use freeboard_jobs::{ExistingDocument, Export, Import, Imported, metadata_path};
use futures::TryStreamExt;
use mongodb::change_stream::event::OperationType;
use std::path::Path;

async fn export(place: &Place, namespace: &str, file: &Path) {
    let export = Export { uri: &place.uri, namespace, file, format: None, documents_only: false };
    export.run().await.unwrap();
}

fn import<'a>(place: &'a Place, namespace: &'a str, file: &'a Path) -> Import<'a> {
    Import {
        uri: &place.uri,
        namespace,
        file,
        format: None,
        drop: false,
        documents_only: false,
        with_policy: false,
        existing: ExistingDocument::Fail,
    }
}

async fn dropping(place: &Place, namespace: &str, file: &Path) -> Imported {
    Import { drop: true, ..import(place, namespace, file) }.run().await.unwrap()
}

async fn run(place: &Place, command: Document) {
    place.client.database("d").run_command(command).await.unwrap();
}

/// The options and indexes of a collection, as the server tells them.
async fn definition(place: &Place, name: &str) -> (Document, Vec<Document>) {
    let database = place.client.database("d");
    let list = doc! { "listCollections": 1, "filter": { "name": name } };
    let listed = database.run_cursor_command(list).await.unwrap();
    let listed: Vec<Document> = listed.try_collect().await.unwrap();
    let options = listed[0].get_document("options").unwrap().clone();
    let indexes = database.run_cursor_command(doc! { "listIndexes": name }).await.unwrap();
    (options, indexes.try_collect().await.unwrap())
}

/// A collection with options, a document and indexes of many kinds.
async fn orders(place: &Place) {
    let validator = doc! { "$jsonSchema": { "required": ["customer"] } };
    let collation = doc! { "locale": "de", "strength": 2 };
    run(place, doc! { "create": "orders", "validator": validator, "collation": collation }).await;
    let indexes = [
        doc! { "key": { "customer": 1, "total": -1 }, "name": "customer_1_total_-1" },
        doc! { "key": { "no": 1 }, "name": "no", "unique": true, "collation": { "locale": "simple" } },
        doc! { "key": { "at": 1 }, "name": "at", "expireAfterSeconds": 1_000_000 },
        doc! { "key": { "total": 1 }, "name": "large",
        "partialFilterExpression": { "total": { "$gt": 100 } }, "hidden": true },
    ];
    run(place, doc! { "createIndexes": "orders", "indexes": indexes.to_vec() }).await;
    let document = rawdoc! { "_id": 1, "customer": "ada", "no": 7, "total": 30 };
    place.collection("orders").insert_one(document).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn they_go_out_and_in() {
    let place = Place::new().await;
    orders(&place).await;
    let before = definition(&place, "orders").await;
    assert_eq!(before.1.len(), 5);
    for file in ["orders.ndjson", "orders.bson"] {
        let file = place.path(file);
        export(&place, "d.orders", &file).await;
        let imported = dropping(&place, "d.orders", &file).await;
        assert_eq!(imported.made.indexes.len(), 4, "{imported:?}");
        assert_eq!(definition(&place, "orders").await, before);
    }
    let file = place.path("orders.bson");
    let imported = import(&place, "d.copy", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.made.failed), (1, vec![]));
    assert_eq!(definition(&place, "copy").await, before);
    // Once more: everything is there.
    let again = Import { existing: ExistingDocument::Skip, ..import(&place, "d.copy", &file) };
    let again = again.run().await.unwrap();
    assert_eq!((again.skipped, again.made.indexes), (1, vec![]));
    let bare = Import { documents_only: true, ..import(&place, "d.bare", &file) };
    bare.run().await.unwrap();
    assert_eq!(definition(&place, "bare").await.1.len(), 1);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drop_keeps_them_where_the_file_says_nothing_of_them() {
    let place = Place::new().await;
    orders(&place).await;
    let before = definition(&place, "orders").await;
    let file = place.path("typed.ndjson");
    std::fs::write(&file, "{\"_id\": 2, \"customer\": \"grace\", \"no\": 8}\n").unwrap();
    let imported = dropping(&place, "d.orders", &file).await;
    assert_eq!((imported.documents, imported.dropped_indexes), (1, vec![]));
    assert_eq!(definition(&place, "orders").await, before);
    // What is not there has none, and is dropped all the same.
    dropping(&place, "d.new", &file).await;
    assert_eq!(definition(&place, "new").await.1.len(), 1);
    place.stop().await;
}

/// A crash leaves the collection as it was, or empty with its indexes: it is never gone.
#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_collection_takes_the_place_of_the_other_in_one_step() {
    let place = Place::new().await;
    orders(&place).await;
    let before = definition(&place, "orders").await;
    // An import that was cut off has left one behind.
    run(&place, doc! { "create": "orders.importing", "capped": true, "size": 4096 }).await;
    let mut events = place.client.database("d").watch().await.unwrap();
    let file = place.path("typed.ndjson");
    std::fs::write(&file, "{\"_id\": 2, \"customer\": \"grace\", \"no\": 8}\n").unwrap();
    dropping(&place, "d.orders", &file).await;
    assert_eq!(definition(&place, "orders").await, before);
    loop {
        let Some(event) = events.next_if_any().await.unwrap() else { continue };
        let name = event.ns.and_then(|ns| ns.coll).unwrap_or_default();
        match event.operation_type {
            OperationType::Drop => assert_eq!(name, "orders.importing"),
            OperationType::Rename => {
                assert_eq!(name, "orders.importing");
                break;
            }
            other => panic!("{other:?} of {name}"),
        }
    }
    assert_eq!(place.client.database("d").list_collection_names().await.unwrap(), ["orders"]);
    place.stop().await;
}

/// Under a policy, too, which stays: the collection is never gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_collection_with_a_policy_is_replaced_in_one_step() {
    let place = Place::new().await;
    orders(&place).await;
    let overflow = doc! { "into": "items", "page": 5 };
    let bound = doc! { "max": 5, "on_limit": "overflow", "overflow": overflow };
    let policy = doc! { "arrays": { "items": bound } };
    run(&place, doc! { "setGrowthPolicy": "orders", "policy": policy }).await;
    let before = definition(&place, "orders").await;
    let mut events = place.client.database("d").watch().await.unwrap();
    let file = place.path("typed.ndjson");
    let line = r#"{"_id": 2, "customer": "grace", "no": 8, "items": [1, 2, 3, 4, 5, 6, 7]}"#;
    std::fs::write(&file, line).unwrap();
    assert_eq!(dropping(&place, "d.orders", &file).await.failed, 0);
    assert_eq!(definition(&place, "orders").await, before);
    loop {
        let Some(event) = events.next_if_any().await.unwrap() else { continue };
        let name = event.ns.and_then(|ns| ns.coll).unwrap_or_default();
        match event.operation_type {
            OperationType::Rename => break assert_eq!(name, "orders.importing"),
            other => panic!("{other:?} of {name}"),
        }
    }
    assert_eq!(place.collection("items").count_documents(doc! {}).await.unwrap(), 1);
    place.stop().await;
}

/// Nothing is renamed over a view.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_renamed_over_is_dropped_and_made_again() {
    let place = Place::new().await;
    orders(&place).await;
    run(&place, doc! { "create": "shown", "viewOn": "orders" }).await;
    let file = place.path("typed.ndjson");
    std::fs::write(&file, "{\"_id\": 2, \"customer\": \"grace\", \"no\": 8}\n").unwrap();
    dropping(&place, "d.shown", &file).await;
    assert_eq!(place.collection("shown").count_documents(doc! {}).await.unwrap(), 1);
    let names = place.client.database("d").list_collection_names().await.unwrap();
    assert!(!names.iter().any(|name| name.ends_with(".importing")), "{names:?}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_drop_drops_is_told() {
    let place = Place::new().await;
    orders(&place).await;
    let file = place.path("orders.bson");
    export(&place, "d.orders", &file).await;
    let later = [doc! { "key": { "later": 1 }, "name": "later" }];
    run(&place, doc! { "createIndexes": "orders", "indexes": later.to_vec() }).await;
    let imported = dropping(&place, "d.orders", &file).await;
    assert_eq!(imported.dropped_indexes, ["later"]);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_cannot_be_made_is_told() {
    let place = Place::new().await;
    orders(&place).await;
    let file = place.path("orders.bson");
    export(&place, "d.orders", &file).await;
    let same = [rawdoc! { "_id": 8, "no": 1 }, rawdoc! { "_id": 9, "no": 1 }];
    place.collection("other").insert_many(same).await.unwrap();
    let imported = import(&place, "d.other", &file).run().await.unwrap();
    assert_eq!((imported.documents, imported.failed), (1, 0));
    let [(name, why)] = &imported.made.failed[..] else { panic!("{imported:?}") };
    assert!(name == "no" && why.contains("E11000"), "{why}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_dropped_for_a_file_that_is_not_understood() {
    let place = Place::new().await;
    orders(&place).await;
    let file = place.path("orders.bson");
    export(&place, "d.orders", &file).await;
    let beside = metadata_path(&file).unwrap();
    for wrong in ["nonsense", "{}", "{\"indexes\": [1]}", "{\"indexes\": [], \"options\": 1}"] {
        std::fs::write(&beside, wrong).unwrap();
        let import = Import { drop: true, ..import(&place, "d.orders", &file) };
        let error = import.run().await.unwrap_err().to_string();
        assert!(error.contains("orders.metadata.json has no valid options and indexes"), "{error}");
        assert_eq!(place.collection("orders").count_documents(doc! {}).await.unwrap(), 1);
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_is_not_there_is_not_exported() {
    let place = Place::new().await;
    orders(&place).await;
    let file = place.path("order.ndjson");
    let missing = Export {
        uri: &place.uri,
        namespace: "d.order",
        file: &file,
        format: None,
        documents_only: false,
    };
    let error = missing.run().await.unwrap_err().to_string();
    assert!(error.starts_with("there is no collection d.order"), "{error}");
    let left = [file.clone(), metadata_path(&file).unwrap(), place.path("order.ndjson.part")];
    assert!(left.iter().all(|file| !file.exists()));
    // An empty one is, and so is a view.
    run(&place, doc! { "create": "empty" }).await;
    run(&place, doc! { "create": "view", "viewOn": "orders", "pipeline": [] }).await;
    export(&place, "d.empty", &file).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    export(&place, "d.view", &file).await;
    let imported = import(&place, "d.of_view", &file).run().await.unwrap();
    assert_eq!(imported.documents, 1);
    assert_eq!(definition(&place, "of_view").await.0, doc! {});
    place.stop().await;
}
