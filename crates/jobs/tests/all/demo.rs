//! Made-up data.

use crate::place::Place;
use bson::{Document, doc};
use demo::{Recipe, scenario};
use freeboard_jobs::{Demo, Error, Existing};

fn load<'a>(place: &'a Place, names: &[&str], size: u64, existing: Existing) -> Demo<'a> {
    Demo {
        uri: &place.uri,
        database: "d",
        scenarios: names.iter().map(|name| scenario(name).unwrap()).collect(),
        recipe: Recipe::new(1, size),
        existing,
        queries: false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_is_loaded_as_it_was_made() {
    let place = Place::new().await;
    let loaded = load(&place, &["sharding", "events"], 200, Existing::Refuse).run().await.unwrap();
    assert_eq!((loaded.collections, loaded.documents), (6, 400));
    assert_eq!(loaded.unsharded.len(), 4);

    let made = scenario("events").unwrap().collections(&Recipe::new(1, 200)).remove(0);
    let mut cursor = place.collection("events").find(doc! {}).await.unwrap();
    for document in made.documents() {
        assert!(cursor.advance().await.unwrap());
        assert_eq!(cursor.current(), &*document);
    }
    assert!(!cursor.advance().await.unwrap());
    let indexes = place.collection("events").list_index_names().await.unwrap();
    assert_eq!(indexes, ["_id_", "userId_1_timestamp_-1", "type_1_timestamp_-1", "type_1"]);
    // What tells the auditor the key on a server without shards.
    let indexes = place.collection("parcels").list_index_names().await.unwrap();
    assert_eq!(indexes, ["_id_", "shard_key"]);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_is_there_stays_unless_it_may_go() {
    let place = Place::new().await;
    place.collection("parcels").insert_one(bson::rawdoc! { "_id": 1 }).await.unwrap();
    let refused = load(&place, &["sharding"], 100, Existing::Refuse).run().await.unwrap_err();
    assert!(matches!(refused, Error::Use(_)));
    assert!(refused.to_string().starts_with("d.parcels has documents already"), "{refused}");
    let names = place.client.database("d").list_collection_names().await.unwrap();
    assert_eq!(names, ["parcels"], "nothing was loaded");

    let loaded = load(&place, &["sharding"], 100, Existing::Drop).run().await.unwrap();
    assert_eq!(loaded.documents, 100);
    assert_eq!(place.collection("parcels").count_documents(doc! {}).await.unwrap(), 25);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_load_goes_on() {
    let place = Place::new().await;
    load(&place, &["sensors"], 100, Existing::Refuse).run().await.unwrap();
    let readings = place.client.database("d").collection::<Document>("readings");
    let before: Vec<_> = readings.distinct("_id", doc! {}).await.unwrap();
    readings.delete_many(doc! { "temp": { "$gt": 22 } }).await.unwrap();
    let left = readings.count_documents(doc! {}).await.unwrap();
    assert!(left < 99);
    let loaded = load(&place, &["sensors"], 100, Existing::Resume).run().await.unwrap();
    assert_eq!(loaded.documents, 99 - left);
    assert_eq!(readings.distinct("_id", doc! {}).await.unwrap(), before);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_refused_ends_it_with_the_reason() {
    let place = Place::new().await;
    let create = doc! { "create": "devices", "validator": { "site": "nowhere" } };
    place.client.database("d").run_command(create).await.unwrap();
    let failed = load(&place, &["sensors"], 100, Existing::Refuse).run().await.unwrap_err();
    assert!(failed.to_string().contains("code 121"), "{failed}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_applications_ask_is_profiled() {
    let place = Place::new().await;
    let names = ["events", "sensors", "sharding", "shop", "tenants"];
    let job = Demo { queries: true, ..load(&place, &names, 100, Existing::Refuse) };
    let loaded = job.run().await.unwrap();
    assert_eq!((loaded.queries, loaded.unprofiled), (440, None));
    let profile = place.client.database("d").collection::<Document>("system.profile");
    let joins =
        doc! { "command.aggregate": "orders", "command.pipeline.$lookup": { "$exists": true } };
    assert_eq!(profile.count_documents(joins).await.unwrap(), 60);
    let level = place.client.database("d").run_command(doc! { "profile": -1 }).await.unwrap();
    assert_eq!(level.get_i32("was").unwrap(), 0, "it is off again");
    place.stop().await;
}
