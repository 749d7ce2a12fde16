//! What the scenarios promise: the same bytes for the same recipe, the size that was asked
//! for, and the faults they are there for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bson::{DateTime, Document, RawDocumentBuf};
use freeboard_demo::{Collection, Recipe, SCENARIOS, SIZE_MIN, scenario};
use std::collections::HashSet;
use xxhash_rust::xxh3::Xxh3;

const SIZE: u64 = 300;

fn collection(scenario: &str, name: &str) -> Collection {
    let scenario = freeboard_demo::scenario(scenario).unwrap();
    let mut collections = scenario.collections(&Recipe::new(1, SIZE));
    let at = collections.iter().position(|collection| collection.name == name).unwrap();
    collections.swap_remove(at)
}

fn documents(scenario: &str, name: &str) -> Vec<Document> {
    let parse = |document: RawDocumentBuf| Document::try_from(&*document).unwrap();
    collection(scenario, name).documents().map(parse).collect()
}

fn is(document: &Document, field: &str, value: &str) -> bool {
    document.get_str(field).unwrap() == value
}

/// The bytes of all documents, names and definitions of a scenario.
fn digest(name: &str, recipe: &Recipe) -> u64 {
    let mut hash = Xxh3::new();
    for collection in scenario(name).unwrap().collections(recipe) {
        hash.update(collection.name.as_bytes());
        hash.update(format!("{:?} {:?}", collection.indexes, collection.shard_key).as_bytes());
        collection.documents().for_each(|document| hash.update(document.as_bytes()));
    }
    hash.digest()
}

/// They may change with a version of Freeboard, never by accident.
#[test]
fn a_recipe_gives_the_same_bytes_everywhere() {
    let digests: Vec<(&str, String)> = SCENARIOS
        .iter()
        .map(|row| (row.name, format!("{:016x}", digest(row.name, &Recipe::new(1, SIZE)))))
        .collect();
    let expected = [
        ("events", "9a2ce501cc752b67"),
        ("sensors", "616ff5929d815131"),
        ("sharding", "bc6cf05e4eeeb25a"),
        ("shop", "f8c1cad1b248299f"),
        ("social", "96c2613a8d7790d4"),
        ("tenants", "c8bd565b9b1b49f5"),
    ];
    let expected = expected.map(|(name, digest)| (name, digest.to_owned()));
    assert_eq!(digests, expected);
}

#[test]
fn seed_size_and_now_all_matter() {
    let usual = Recipe::new(1, 100);
    let later = Recipe { now: DateTime::from_millis(1_900_000_000_000), ..usual };
    for row in SCENARIOS {
        let first = digest(row.name, &usual);
        assert_eq!(first, digest(row.name, &usual), "{}", row.name);
        for other in [Recipe::new(2, 100), Recipe::new(1, 101), later] {
            assert_ne!(first, digest(row.name, &other), "{} {other:?}", row.name);
        }
    }
}

#[test]
fn any_document_can_be_made_by_itself() {
    let likes = collection("social", "likes");
    let all: Vec<RawDocumentBuf> = likes.documents().collect();
    assert_eq!(likes.document(17), all[17]);
}

#[test]
fn a_scenario_has_the_size_that_was_asked_for() {
    for row in SCENARIOS {
        for size in [SIZE_MIN, 11, 99, 1_000, 12_345, 3_000_000] {
            let collections = row.collections(&Recipe::new(1, size));
            let total: u64 = collections.iter().map(|collection| collection.count).sum();
            assert_eq!(total, size, "{}", row.name);
            assert!(collections.iter().all(|collection| collection.count > 0), "{}", row.name);
        }
    }
}

/// All scenarios fit into one database.
#[test]
fn no_two_collections_have_the_same_name() {
    let mut names = HashSet::new();
    for row in SCENARIOS {
        for collection in row.collections(&Recipe::new(1, 100_000)) {
            assert!(names.insert(collection.name.clone()), "{}", collection.name);
        }
    }
}

#[test]
fn ids_are_distinct_and_documents_well_formed() {
    for row in SCENARIOS {
        for collection in row.collections(&Recipe::new(3, SIZE)) {
            let mut ids = HashSet::new();
            for document in collection.documents() {
                Document::try_from(&*document).unwrap();
                let id = document.get("_id").unwrap().unwrap();
                assert!(ids.insert(format!("{id:?}")), "{} {id:?}", collection.name);
                assert!(document.as_bytes().len() < 16 * 1024 * 1024);
            }
        }
    }
}

#[test]
fn one_user_in_a_hundred_never_stops() {
    let users = collection("social", "users");
    let lengths: Vec<usize> = documents("social", "users")
        .iter()
        .map(|user| user.get_array("activities").unwrap().len())
        .collect();
    assert_eq!(lengths.len() as u64, users.count);
    let outliers = lengths.iter().filter(|length| **length > 10_000).count();
    assert_eq!(outliers, 1, "of {} users", lengths.len());
    assert!(lengths.iter().filter(|length| **length <= 10_000).all(|l| (50..=500).contains(l)));
}

#[test]
fn some_ids_differ_in_case_alone() {
    let users = documents("social", "users");
    let folded: HashSet<String> =
        users.iter().map(|user| user.get_str("_id").unwrap().to_lowercase()).collect();
    assert!(folded.len() < users.len());
    let events = documents("events", "events");
    let users: HashSet<&str> =
        events.iter().map(|event| event.get_str("userId").unwrap()).collect();
    assert!(users.iter().any(|user| user.starts_with('U')));
}

#[test]
fn one_country_dominates_and_a_key_only_grows() {
    let accounts = documents("sharding", "accounts");
    let us = accounts.iter().filter(|account| is(account, "country", "US")).count();
    assert!((40..=80).contains(&(us * 100 / accounts.len())), "{us}");
    let shipments = documents("sharding", "shipments");
    let dates: Vec<_> =
        shipments.iter().map(|shipment| shipment.get_datetime("createdAt").unwrap()).collect();
    assert!(dates.is_sorted());
    assert!(collection("sharding", "shipments").shard_key.is_some());
}

#[test]
fn fields_are_named_by_days_and_months() {
    let device = &documents("sensors", "devices")[0];
    let days: Vec<&String> = device.get_document("daily").unwrap().keys().collect();
    assert!(days.len() >= 30 && days[0].starts_with("20") && days[0].len() == 10, "{days:?}");
    let counts = &documents("events", "monthlyCounts")[0];
    assert!(counts.keys().any(|key| key.len() == 7 && key.starts_with("202")), "{counts}");
}

#[test]
fn tenants_have_a_collection_each() {
    let tenants = scenario("tenants").unwrap();
    let collections = tenants.collections(&Recipe::new(1, 1_000));
    assert_eq!(collections.len(), 40);
    let names: Vec<&str> = collections.iter().map(|c| c.name.as_str()).collect();
    assert!(
        names.contains(&"customer_contoso_orders") && names.contains(&"customer_contoso2_orders")
    );
    assert!(collections[0].count > 2 * collections[3].count);
}

#[test]
fn most_orders_are_old_and_settled() {
    let orders = documents("shop", "orders");
    let settled = orders.iter().filter(|order| is(order, "status", "delivered")).count();
    assert!(settled * 10 > orders.len() * 8, "{settled} of {}", orders.len());
}
