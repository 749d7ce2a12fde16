//! The documents that upserts insert.

use super::super::Update;
use super::filter;
use crate::Context;
use crate::testing::rawarray;
use bson::{RawBsonRef, RawDocumentBuf, rawdoc};
use error::Result;

fn upsert(query: RawDocumentBuf, update: RawBsonRef<'_>) -> Result<RawDocumentBuf> {
    Update::parse(update, None, &Context::new())?.upsert(&filter(query))
}

#[test]
fn values_of_the_filter_then_the_operators() {
    let cases = vec![
        (
            rawdoc! { "b": 1, "a": 2 },
            rawdoc! { "$set": { "c": 3 } },
            rawdoc! { "a": 2, "b": 1, "c": 3 },
        ),
        (
            rawdoc! { "x": 1, "_id": 5 },
            rawdoc! { "$inc": { "x": 2 } },
            rawdoc! { "_id": 5, "x": 3 },
        ),
        (
            rawdoc! { "a.b": 1 },
            rawdoc! { "$setOnInsert": { "a.c": 2, "d": 3 }, "$unset": { "e": 1 } },
            rawdoc! { "a": { "b": 1, "c": 2 }, "d": 3 },
        ),
        (
            rawdoc! { "a": { "$gt": 5 }, "b": { "$eq": 1 } },
            rawdoc! { "$set": {} },
            rawdoc! { "b": 1 },
        ),
        (
            rawdoc! { "$and": [{ "a": 1 }, { "$or": [{ "b": 2 }] }] },
            rawdoc! { "$set": {} },
            rawdoc! { "a": 1, "b": 2 },
        ),
        (
            rawdoc! { "$or": [{ "a": 1 }, { "b": 2 }] },
            rawdoc! { "$set": { "c": 1 } },
            rawdoc! { "c": 1 },
        ),
        (
            rawdoc! { "a": { "$in": [7] } },
            rawdoc! { "$set": { "c": 1 } },
            rawdoc! { "a": 7, "c": 1 },
        ),
        (
            rawdoc! { "a": { "$all": [7] } },
            rawdoc! { "$set": { "c": 1 } },
            rawdoc! { "a": 7, "c": 1 },
        ),
        (
            rawdoc! {},
            rawdoc! { "$setOnInsert": { "_id": 7 }, "$set": { "a": 1 } },
            rawdoc! { "_id": 7, "a": 1 },
        ),
        (rawdoc! { "a": 1 }, rawdoc! { "$set": { "a": 1 } }, rawdoc! { "a": 1 }),
    ];
    for (query, update, expected) in cases {
        let document = upsert(query, RawBsonRef::Document(&update)).unwrap();
        assert_eq!(document, expected, "{update:?}");
    }
}

#[test]
fn replacements_take_only_the_id() {
    let cases = vec![
        (rawdoc! { "a": 1 }, rawdoc! { "b": 2 }, rawdoc! { "b": 2 }),
        (rawdoc! { "_id": 5, "a": 1 }, rawdoc! { "b": 2 }, rawdoc! { "_id": 5, "b": 2 }),
        (rawdoc! { "a": 1 }, rawdoc! { "b": 2, "_id": 3 }, rawdoc! { "_id": 3, "b": 2 }),
    ];
    for (query, update, expected) in cases {
        let document = upsert(query, RawBsonRef::Document(&update)).unwrap();
        assert_eq!(document, expected, "{update:?}");
    }
}

#[test]
fn pipelines_begin_with_the_filters_values() {
    let stages = rawarray![{ "$set": { "b": { "$add": ["$a", 1] } } }];
    let document = upsert(rawdoc! { "a": 1, "_id": 9 }, RawBsonRef::Array(&stages)).unwrap();
    assert_eq!(document, rawdoc! { "_id": 9, "a": 1, "b": 2 });
}

#[test]
fn names_are_those_of_an_insert() {
    let set = rawdoc! { "$set": { "$a": 1 } };
    let document = upsert(rawdoc! {}, RawBsonRef::Document(&set)).unwrap();
    assert_eq!(document, rawdoc! { "$a": 1 });
    let replacement = rawdoc! { "b": 1, "$a": 1 };
    let document = upsert(rawdoc! {}, RawBsonRef::Document(&replacement)).unwrap();
    assert_eq!(document, replacement);
}

#[test]
fn misuse() {
    let set = |field: RawDocumentBuf| rawdoc! { "$set": field };
    let cases = vec![
        (rawdoc! { "_id": 1 }, set(rawdoc! { "_id": 2 }), 66),
        (rawdoc! { "_id": 1 }, rawdoc! { "_id": 2, "a": 1 }, 66),
        (rawdoc! { "$and": [{ "a": 1 }, { "a": 2 }] }, set(rawdoc! {}), 54),
        (rawdoc! { "a": { "b": 1 }, "a.b": 1 }, set(rawdoc! {}), 54),
        (rawdoc! { "_id.a": 1 }, rawdoc! { "a": 1 }, 111),
        (rawdoc! {}, set(rawdoc! { "_id": [1] }), 53),
        (rawdoc! {}, set(rawdoc! { "_id": { "$a": 1 } }), 52),
        (rawdoc! {}, rawdoc! { "_id": [1] }, 53),
        (rawdoc! { "a": 1 }, set(rawdoc! { "a.b": 1 }), 28),
        (rawdoc! { "a": 1 }, set(rawdoc! { "b.$": 1 }), 2),
    ];
    for (query, update, code) in cases {
        let error = upsert(query, RawBsonRef::Document(&update)).unwrap_err();
        assert_eq!(error.code().number(), code, "{update:?}: {error}");
    }
}
