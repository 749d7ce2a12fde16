//! Projections of one document.

use super::Row;
use super::case::{COLLECTION, Case, fields, list, numbers};
use bson::{Bson, Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("many fields", 1_000, 200_000, |n| project(fields(n, |_| 1), fields(n, |_| 1))),
    Row::new("all but many fields", 1_000, 200_000, |n| {
        project(fields(n, |_| 1), fields(n, |_| 0))
    }),
    Row::new("many nested fields", 1_000, 100_000, |n| {
        project(doc! { "o": fields(n, |_| 1) }, below("o", n, 1.into()))
    }),
    Row::new("fields of many elements", 1_000, 100_000, |n| {
        project(doc! { "a": list(n, |at| doc! { "x": at as i32, "y": 1 }) }, doc! { "a.x": 1 })
    }),
    Row::new("many literals", 1_000, 50_000, |n| project(doc! {}, fields(n, |_| "x"))),
    Row::new("many computed fields", 1_000, 50_000, |n| {
        project(fields(n, |_| 1), fields(n, |at| format!("$k{at}")))
    }),
    Row::new("many computed nested fields", 1_000, 50_000, |n| {
        project(doc! { "o": fields(n, |_| 1) }, fields(n, |at| format!("$o.k{at}")))
    }),
    Row::new("many slices", 1_000, 50_000, |n| {
        project(fields(n, |_| vec![1, 2]), fields(n, |_| doc! { "$slice": 1 }))
    }),
    Row::new("a slice", 8_000, 200_000, |n| {
        project(doc! { "a": numbers(n) }, doc! { "a": { "$slice": [n as i32 / 2, 1] } })
    }),
    Row::new("$elemMatch", 4_000, 200_000, |n| {
        project(doc! { "a": numbers(n) }, doc! { "a": { "$elemMatch": { "$gte": n as i32 - 1 } } })
    }),
    Row::new("many fields left out beside many conditions", 1_000, 50_000, |n| {
        let mut find = find(fields(n, |_| 0));
        find.insert("filter", below("x", n, Bson::Null));
        Case::new(vec![fields(n, |_| 1)], find)
    }),
];

fn project(document: Document, projection: Document) -> Case {
    Case::new(vec![document], find(projection))
}

fn find(projection: Document) -> Document {
    doc! { "find": COLLECTION, "projection": projection, "batchSize": i32::MAX }
}

/// `{"name.k0": value, "name.k1": value, …}`
fn below(name: &str, n: usize, value: Bson) -> Document {
    (0..n).map(|at| (format!("{name}.k{at}"), value.clone())).collect()
}
