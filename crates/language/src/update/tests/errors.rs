//! Updates that are refused as a whole.

use super::{errors, refused};
use crate::testing::rawarray;
use bson::{RawBsonRef, rawdoc};

#[test]
fn unknown_modifiers() {
    let unknown = "Expected a valid update modifier or pipeline-style update specified as an array";
    errors(vec![
        (rawdoc! {}, rawdoc! { "$foo": { "a": 1 } }, 9, "Unknown modifier: $foo."),
        (rawdoc! {}, rawdoc! { "$foo": { "a": 1 } }, 9, unknown),
        (rawdoc! {}, rawdoc! { "$set": { "a": 1 }, "b": 1 }, 9, "Unknown modifier: b."),
        (rawdoc! {}, rawdoc! { "$pushAll": { "a": [1] } }, 9, "Unknown modifier: $pushAll."),
    ]);
}

#[test]
fn wrong_types() {
    assert_eq!(refused(RawBsonRef::Int32(1), None), 9);
    assert_eq!(refused(RawBsonRef::String("x"), None), 9);
    assert_eq!(refused(RawBsonRef::Null, None), 9);
    for argument in [rawdoc! { "$set": [] }, rawdoc! { "$inc": null }, rawdoc! { "$push": "x" }] {
        assert_eq!(refused(RawBsonRef::Document(&argument), None), 9, "{argument:?}");
    }
}

#[test]
fn array_filters() {
    let update = rawdoc! { "$set": { "a.$[x].b": 1 } };
    let update = RawBsonRef::Document(&update);
    let cases = vec![
        (None, 2),
        (Some(rawarray![{ "y": 1 }]), 2),
        (Some(rawarray![{ "x": 1 }, { "y": 1 }]), 9),
        (Some(rawarray![{ "x": 1 }, { "x.b": 1 }]), 9),
        (Some(rawarray![{ "x": 1, "y": 1 }]), 9),
        (Some(rawarray![{ "X": 1 }]), 2),
        (Some(rawarray![{ "x_y": 1 }]), 2),
        (Some(rawarray![{}]), 9),
        (Some(rawarray![5]), 14),
    ];
    for (filters, code) in cases {
        assert_eq!(refused(update, filters.clone()), code, "{filters:?}");
    }
    let pipeline = rawarray![{ "$set": { "a": 1 } }];
    assert_eq!(refused(RawBsonRef::Array(&pipeline), Some(rawarray![{ "x": 1 }])), 9);
    let first = rawdoc! { "$set": { "$[x].b": 1 } };
    assert_eq!(refused(RawBsonRef::Document(&first), Some(rawarray![{ "x": 1 }])), 2);
    let first = rawdoc! { "$set": { "$[]": 1 } };
    assert_eq!(refused(RawBsonRef::Document(&first), None), 2);
}

#[test]
fn positional() {
    let words = "did not find the match needed from the query";
    errors(vec![
        (rawdoc! { "a": [1] }, rawdoc! { "$set": { "a.$": 1 } }, 2, words),
        (rawdoc! {}, rawdoc! { "$set": { "a.$.b": 1 } }, 2, words),
        (rawdoc! {}, rawdoc! { "$set": { "$.a": 1 } }, 2, "first position"),
        (rawdoc! {}, rawdoc! { "$set": { "a.$.b.$": 1 } }, 2, "Too many positional"),
    ]);
}
