//! `$jsonSchema`, as a filter.

use super::Row;
use super::case::{Case, fields, list, names, numbers};
use bson::{Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("additionalProperties", 1_000, 50_000, |n| {
        let schema = doc! { "properties": fields(n, |_| doc! {}), "additionalProperties": false };
        on(fields(n, |_| 1), doc! { "properties": { "_id": {}, "o": schema } })
    }),
    Row::product("anyOf", 100, 10_000, |n| {
        let each = list(n, |at| doc! { "required": [format!("x{at}")] });
        on(fields(n, |_| 1), doc! { "properties": { "o": { "anyOf": each } } })
    }),
    Row::new("dependencies", 1_000, 50_000, |n| {
        let on_others = fields(n, |at| vec![format!("k{}", n - 1 - at)]);
        on(fields(n, |_| 1), doc! { "properties": { "o": { "dependencies": on_others } } })
    }),
    Row::new("enum", 2_000, 100_000, |n| {
        let one = doc! { "enum": numbers(n) };
        filter(doc! { "a": numbers(n) }, doc! { "properties": { "a": { "items": one } } })
    }),
    Row::new("items", 1_000, 50_000, |n| {
        let each = list(n, |_| doc! { "bsonType": "int" });
        filter(doc! { "a": numbers(n) }, doc! { "properties": { "a": { "items": each } } })
    }),
    Row::new("maxLength", 8_000, 2_000_000, |n| {
        let schema = doc! { "properties": { "s": { "maxLength": n as i32 } } };
        filter(doc! { "s": "é".repeat(n) }, schema)
    }),
    Row::new("pattern", 8_000, 2_000_000, |n| {
        let schema = doc! { "properties": { "s": { "pattern": "z" } } };
        filter(doc! { "s": "é".repeat(n) }, schema)
    }),
    Row::product("patternProperties", 100, 4_000, |n| {
        let patterns: Document = (0..n).map(|at| (format!("^x{at}"), doc! {}.into())).collect();
        on(fields(10 * n, |_| 1), doc! { "properties": { "o": { "patternProperties": patterns } } })
    }),
    Row::new("properties", 1_000, 50_000, |n| {
        let schema = doc! { "properties": fields(n, |_| doc! { "bsonType": "int" }) };
        on(fields(n, |_| 1), doc! { "properties": { "o": schema } })
    }),
    Row::new("required", 1_000, 50_000, |n| {
        on(fields(n, |_| 1), doc! { "properties": { "o": { "required": names(n) } } })
    }),
    Row::new("uniqueItems", 2_000, 100_000, |n| {
        let schema = doc! { "properties": { "a": { "uniqueItems": true } } };
        filter(doc! { "a": numbers(n) }, schema)
    }),
    Row::new("a refusal that names every field", 500, 20_000, |n| {
        let wrong = doc! { "properties": fields(n, |_| doc! { "bsonType": "string" }) };
        let validator = doc! { "$jsonSchema": { "properties": { "o": wrong } } };
        let create = doc! { "create": super::case::COLLECTION, "validator": validator };
        let insert = doc! {
            "insert": super::case::COLLECTION, "documents": [{ "o": fields(n, |at| at as i32) }],
        };
        Case::prepared(vec![create], vec![], insert)
    })
    .refused(121),
];

/// A schema asked of one document.
fn filter(document: Document, schema: Document) -> Case {
    Case::find(vec![document], doc! { "$jsonSchema": schema })
}

/// The same of one whose fields stand in `o`.
fn on(fields: Document, schema: Document) -> Case {
    filter(doc! { "o": fields }, schema)
}
