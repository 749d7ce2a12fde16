//! The faults of made-up data are found.

use crate::place::{Place, found};
use bson::doc;
use demo::Recipe;
use freeboard_insight::Report;
use freeboard_insight::report::{Finding, Severity, Status};
use serde_json::json;

/// Documents that are sent at once: some weigh megabytes.
const BATCH: usize = 50;

async fn audited(scenario: &str) -> Report {
    let recipe = Recipe { now: bson::DateTime::now(), ..Recipe::new(1, 500) };
    let place = filled(scenario, recipe).await;
    ask(&place, scenario, recipe).await;
    let report = place.audit(&place.options()).await;
    place.stop().await;
    report
}

async fn filled(scenario: &str, recipe: Recipe) -> Place {
    let place = Place::new().await;
    let scenario = demo::scenario(scenario).unwrap();
    for collection in scenario.collections(&recipe) {
        let documents: Vec<_> = collection.documents().collect();
        for batch in documents.chunks(BATCH) {
            place.collection(&collection.name).insert_many(batch).await.unwrap();
        }
        for (number, key) in collection.indexes.iter().enumerate() {
            let name = match collection.shard_key.as_ref() == Some(key) {
                true => demo::SHARD_KEY_INDEX.to_owned(),
                false => format!("index{number}"),
            };
            place.index(&collection.name, &name, key.clone()).await;
        }
    }
    place
}

/// Asks what the scenario's application asks, with the profiler on.
async fn ask(place: &Place, scenario: &str, recipe: Recipe) {
    place.command(doc! { "profile": 2 }).await;
    for query in demo::scenario(scenario).unwrap().queries(&recipe) {
        place.command(query).await;
    }
    place.command(doc! { "profile": 0 }).await;
}

/// The places where a detector found something worth a warning.
fn places(report: &Report, detector: &str) -> Vec<(String, String)> {
    let findings = found(report, detector).into_iter();
    let mut places: Vec<_> = findings
        .filter(|finding| finding.severity >= Severity::Warn)
        .map(|it| (it.namespace.clone(), it.path.clone().unwrap_or_default()))
        .collect();
    places.sort();
    places
}

fn place(namespace: &str, path: &str) -> (String, String) {
    (namespace.to_owned(), path.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_with_outliers() {
    let report = audited("social").await;
    let users = |path| place("shop.users", path);
    let arrays = [users("activities"), users("notificationPrefs")];
    assert_eq!(places(&report, "unbounded_array"), arrays);
    assert_eq!(places(&report, "unguarded_growth"), arrays);
    // The ids themselves, and the fields that refer to them.
    let ids = [place("shop.likes", "userId"), place("shop.posts", "authorId"), users("_id")];
    assert_eq!(places(&report, "case_collision"), ids);
    assert_eq!(places(&report, "multikey_bloat"), [users("activities")]);
    assert_eq!(places(&report, "redundant_index"), [place("shop.likes", "index0")]);
    let dynamic = places(&report, "dynamic_fields");
    assert_eq!(dynamic.len(), 1, "{dynamic:?}");
    assert!(dynamic[0].0 == "shop.posts" && dynamic[0].1.ends_with("<date>"), "{dynamic:?}");
    // Activities carry dates, so it is known how fast they come.
    let growth = &found(&report, "unbounded_array")[0].evidence.figures;
    assert_eq!(growth["growth_by"], json!("dates of elements"));
    // One policy for both arrays.
    let cure = serde_json::to_value(&found(&report, "unbounded_array")[1].cure).unwrap();
    let rules = cure["policy"]["collections"]["users"]["arrays"].as_object().unwrap();
    assert_eq!(rules.len(), 2, "{rules:?}");
    assert!(places(&report, "collection_sprawl").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tenants_and_sensors() {
    let report = audited("events").await;
    // The values, and the queries that ignore case, are one thing to cure.
    assert_eq!(places(&report, "case_collision"), [place("shop.events", "userId")]);
    assert_eq!(found(&report, "case_collision")[0].also.len(), 1);
    assert_eq!(places(&report, "dynamic_fields"), [place("shop.monthlyCounts", "<date>")]);
    assert_eq!(places(&report, "redundant_index"), [place("shop.events", "index2")]);
    assert!(places(&report, "unbounded_array").is_empty());
    assert_eq!(places(&report, "archive_candidate"), [place("shop.events", "timestamp")]);
    let old = &found(&report, "archive_candidate")[0].evidence.figures;
    assert_eq!((&old["reads"], &old["reads_of_old"]), (&json!(60), &json!(0)));
    assert!(found(&report, "bucket_candidate").is_empty());

    let report = audited("tenants").await;
    assert_eq!(
        places(&report, "collection_sprawl"),
        [place("shop.customer_{customer}_orders", "")]
    );
    let sprawl = &found(&report, "collection_sprawl")[0].evidence;
    assert_eq!(sprawl.figures["collections"], json!(20));
    assert!(found(&report, "shard_key").is_empty());

    let report = audited("sensors").await;
    assert_eq!(places(&report, "dynamic_fields"), [place("shop.devices", "daily.<date>")]);
    assert!(places(&report, "case_collision").is_empty());
    let [series] = &found(&report, "bucket_candidate")[..] else { panic!() };
    assert_eq!((&*series.namespace, series.path.as_deref()), ("shop.readings", Some("ts")));
    assert_eq!(series.evidence.figures["source"], json!("sensorId"));
    assert_eq!(series.evidence.figures["sources"], json!(2));
    assert!(found(&report, "archive_candidate").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_with_reviews() {
    let report = audited("shop").await;
    assert_eq!(places(&report, "unbounded_array"), [place("shop.products", "reviews")]);
    let orders = |path| place("shop.orders", path);
    assert_eq!(places(&report, "redundant_index"), [orders("index0"), orders("index2")]);
    assert!(places(&report, "dynamic_fields").is_empty());
    assert_eq!(places(&report, "archive_candidate"), [orders("orderDate")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_shard_keys() {
    let report = audited("sharding").await;
    let faults_of = |it: &Finding| {
        let faults = it.evidence.figures["faults"].as_array().unwrap().clone();
        let namespace = it.namespace.clone();
        faults.into_iter().map(move |fault| (namespace.clone(), fault.as_str().unwrap().to_owned()))
    };
    let findings = found(&report, "shard_key");
    assert_eq!(findings.len(), 3);
    let mut faults: Vec<_> = findings.into_iter().flat_map(faults_of).collect();
    faults.sort_unstable();
    let expected = [
        ("shop.accounts", "dominating_value"),
        ("shop.accounts", "low_cardinality"),
        ("shop.shipments", "missing_from_queries"),
        ("shop.shipments", "monotonic"),
        ("shop.tickets", "dominating_value"),
        ("shop.tickets", "low_cardinality"),
    ];
    assert_eq!(faults, expected.map(|(namespace, fault)| (namespace.to_owned(), fault.to_owned())));
    let line = report.checklist.iter().find(|line| line.item.starts_with("Shard keys")).unwrap();
    assert_eq!(line.status, Status::Fail);
}

/// The usual size: in a shop of few reviews nobody needs an index on them.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_shop_asks() {
    let recipe = Recipe::default();
    let place_of_shop = filled("shop", recipe).await;
    ask(&place_of_shop, "shop", recipe).await;
    let report = place_of_shop.audit(&place_of_shop.options()).await;
    let (reviews, orders, products) = (
        |path| place("shop.reviews", path),
        |path| place("shop.orders", path),
        |path| place("shop.products", path),
    );
    assert_eq!(places(&report, "missing_index"), [reviews("productId, helpful")]);
    assert_eq!(places(&report, "uncomputed"), [reviews("productId")]);
    assert_eq!(places(&report, "normalised"), [orders("customerId")]);
    assert_eq!(
        places(&report, "bloated_document"),
        [products("reviews"), products("supplierFeed")]
    );
    let missing = found(&report, "missing_index")[0];
    assert_eq!(missing.evidence.figures["queries"], json!(120));
    assert_eq!(missing.evidence.figures["docs_examined"], json!(120 * 300));
    let cure = serde_json::to_value(&missing.cure).unwrap();
    let command = "db.getCollection(\"reviews\").createIndex({productId: 1, helpful: -1})";
    assert_eq!(cure["command"], json!(command));
    let followed = found(&report, "normalised")[0];
    assert_eq!(followed.evidence.figures["share"], json!(1.0));
    for line in [1, 3, 4] {
        assert_eq!(report.checklist[line].status, Status::Fail, "{}", report.checklist[line].item);
    }
    // With the index, what was slow is not asked about any more.
    place_of_shop.index("reviews", "ask", doc! { "productId": 1, "helpful": -1 }).await;
    let report = place_of_shop.audit(&place_of_shop.options()).await;
    assert!(found(&report, "missing_index").is_empty());
    assert_eq!(report.checklist[4].status, Status::Pass);
    place_of_shop.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_sensors_and_a_feed_are_asked() {
    for (scenario, detector, expected) in [
        ("sensors", "uncomputed", place("shop.readings", "sensorId")),
        ("social", "bloated_document", place("shop.users", "activities")),
        ("sharding", "missing_index", place("shop.shipments", "accountId")),
    ] {
        let recipe = Recipe::default();
        let server = filled(scenario, recipe).await;
        ask(&server, scenario, recipe).await;
        let report = server.audit(&server.options()).await;
        assert_eq!(places(&report, detector), [expected], "{scenario}");
        server.stop().await;
    }
}
