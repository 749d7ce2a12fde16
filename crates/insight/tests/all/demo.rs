//! The faults of made-up data are found.

use crate::place::{Place, found};
use demo::Recipe;
use freeboard_insight::Report;
use freeboard_insight::report::Severity;

/// Documents that are sent at once: some weigh megabytes.
const BATCH: usize = 50;

async fn audited(scenario: &str) -> Report {
    let place = Place::new().await;
    let scenario = demo::scenario(scenario).unwrap();
    for collection in scenario.collections(&Recipe::new(1, 500)) {
        let documents: Vec<_> = collection.documents().collect();
        for batch in documents.chunks(BATCH) {
            place.collection(&collection.name).insert_many(batch).await.unwrap();
        }
        for (number, key) in collection.indexes.iter().enumerate() {
            place.index(&collection.name, &format!("index{number}"), key.clone()).await;
        }
    }
    let report = place.audit(&place.options()).await;
    place.stop().await;
    report
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
    assert_eq!(growth["growth_by"], serde_json::json!("dates of elements"));
    // One policy for both arrays.
    let cure = serde_json::to_value(&found(&report, "unbounded_array")[1].cure).unwrap();
    let rules = cure["policy"]["collections"]["users"]["arrays"].as_object().unwrap();
    assert_eq!(rules.len(), 2, "{rules:?}");
    assert!(places(&report, "collection_sprawl").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tenants_and_sensors() {
    let report = audited("events").await;
    assert_eq!(places(&report, "case_collision"), [place("shop.events", "userId")]);
    assert_eq!(places(&report, "dynamic_fields"), [place("shop.monthlyCounts", "<date>")]);
    assert_eq!(places(&report, "redundant_index"), [place("shop.events", "index2")]);
    assert!(places(&report, "unbounded_array").is_empty());

    let report = audited("tenants").await;
    assert_eq!(
        places(&report, "collection_sprawl"),
        [place("shop.customer_{customer}_orders", "")]
    );
    let sprawl = &found(&report, "collection_sprawl")[0].evidence;
    assert_eq!(sprawl.figures["collections"], serde_json::json!(20));

    let report = audited("sensors").await;
    assert_eq!(places(&report, "dynamic_fields"), [place("shop.devices", "daily.<date>")]);
    assert!(places(&report, "case_collision").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_with_reviews() {
    let report = audited("shop").await;
    assert_eq!(places(&report, "unbounded_array"), [place("shop.products", "reviews")]);
    let orders = |path| place("shop.orders", path);
    assert_eq!(places(&report, "redundant_index"), [orders("index0"), orders("index2")]);
    assert!(places(&report, "dynamic_fields").is_empty());
}
