//! Updates that are reported by a change stream.

use super::Row;
use super::case::{COLLECTION, Case, fields, names};
use bson::{Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("a change of many fields", 500, 20_000, |n| {
        told(fields(n, |_| 0), doc! { "$set": fields(n, |_| 1) })
    }),
    Row::new("a change of many documents", 300, 20_000, |n| {
        let set: Document = (0..n).map(|at| (format!("k{at}.x"), 1.into())).collect();
        told(fields(n, |_| doc! { "x": 0, "y": 0 }), doc! { "$set": set })
    }),
    Row::new("a change of many elements", 300, 20_000, |n| {
        let set: Document = (0..n).map(|at| (format!("a.{at}.x"), 1.into())).collect();
        told(doc! { "a": vec![doc! { "x": 0 }; n] }, doc! { "$set": set })
    }),
    Row::new("elements between many new ones", 300, 10_000, |n| {
        let set: Document = (0..n).map(|at| (format!("a.{}", 2 * at + 1), 1.into())).collect();
        told(doc! { "a": [] }, doc! { "$set": set })
    }),
    Row::new("many fields that go and many that come", 500, 20_000, |n| {
        let come: Document = (0..n).map(|at| (format!("c{at}"), 1.into())).collect();
        let go: Document = names(n).into_iter().map(|name| (name, 1.into())).collect();
        told(fields(n, |_| 0), doc! { "$unset": go, "$set": come })
    }),
    Row::new("a pipeline that changes many fields", 500, 20_000, |n| {
        told(fields(n, |at| at as i32), vec![doc! { "$set": fields(n, |at| -1 - at as i32) }])
    }),
];

/// An update once a change stream has been opened.
fn told(document: Document, update: impl Into<bson::Bson>) -> Case {
    let watch =
        doc! { "aggregate": COLLECTION, "pipeline": [{ "$changeStream": {} }], "cursor": {} };
    let statement = doc! { "q": {}, "u": update };
    let update = doc! { "update": COLLECTION, "updates": [statement] };
    Case::prepared(vec![watch], vec![document], update)
}
