//! Indexes and queries that compare strings in other ways.

use super::world::{World, query, summary};
use crate::plan::Query;
use bson::{RawDocumentBuf, rawdoc};
use language::Context;
use language::query::Filter;
use std::sync::Arc;
use value::Collator;

fn caseless() -> RawDocumentBuf {
    rawdoc! { "locale": "en", "strength": 2 }
}

/// A query that compares strings without regard to case.
fn folded(filter: &RawDocumentBuf) -> Query {
    let collator = Collator::parse(&caseless()).expect("a collation").map(Arc::new);
    let context = Context { collator: collator.clone(), ..Context::new() };
    let mut query = Query::new(Arc::new(Filter::parse(filter, &context).expect("a filter")));
    query.collator = collator;
    query
}

fn world() -> World {
    let words = ["b", "A", "a", "B", "c"];
    let documents = (0..).zip(words).map(|(n, word)| rawdoc! { "_id": n, "s": word, "n": n });
    let indexes = [rawdoc! { "key": { "s": 1, "n": 1 }, "collation": caseless() }];
    World::new(&indexes, documents.collect())
}

fn ids(documents: &[RawDocumentBuf]) -> Vec<i32> {
    documents.iter().map(|document| document.get_i32("_id").expect("an id")).collect()
}

#[test]
fn the_collation_must_be_the_same_for_strings() {
    let world = world();
    let plan = |query: Query| summary(&world.plan(query).root);
    let equal = rawdoc! { "s": "a" };
    assert_eq!(plan(folded(&equal)), "FETCH(IXSCAN s_1_n_1)");
    assert_eq!(plan(query(&equal)), "COLLSCAN filter");
    assert_eq!(plan(query(&rawdoc! { "s": 5 })), "FETCH(IXSCAN s_1_n_1)");
    assert_eq!(plan(query(&rawdoc! { "s": { "$regex": "^a" } })), "FETCH filter(IXSCAN s_1_n_1)");
    let sort = rawdoc! { "s": 1 };
    assert_eq!(plan(folded(&rawdoc! {}).sorted(&sort)), "FETCH(IXSCAN s_1_n_1)");
    assert_eq!(plan(query(&rawdoc! {}).sorted(&sort)), "SORT(COLLSCAN)");
    // Keys of such an index do not hold the text.
    let shown = folded(&equal).projected(&rawdoc! { "_id": 0, "s": 1 });
    assert_eq!(plan(shown), "PROJECTION_DEFAULT(FETCH(IXSCAN s_1_n_1))");
}

#[test]
fn what_is_found_is_what_compares_equal() {
    let world = world();
    let found = |query: Query| ids(&world.run(query).expect("runs"));
    assert_eq!(found(folded(&rawdoc! { "s": "a" })), [1, 2]);
    assert_eq!(found(query(&rawdoc! { "s": "a" })), [2]);
    assert_eq!(found(folded(&rawdoc! { "s": { "$gt": "A" } })), [0, 3, 4]);
    assert_eq!(found(folded(&rawdoc! {}).sorted(&rawdoc! { "s": -1, "n": -1 })), [4, 3, 0, 2, 1]);
    assert_eq!(found(query(&rawdoc! { "s": { "$regex": "^a" } })), [2]);
}
