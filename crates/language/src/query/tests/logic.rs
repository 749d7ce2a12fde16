//! `$and`, `$or`, `$nor`, `$not`, and how deep they nest.

use super::*;

#[test]
fn logic() {
    check(&[
        (
            doc! { "$and": [{ "a": 1 }, { "b": 2 }] },
            &[(doc! { "a": 1, "b": 2 }, true), (doc! { "a": 1 }, false)],
        ),
        (
            doc! { "$or": [{ "a": 1 }, { "b": 2 }], "c": 3 },
            &[
                (doc! { "a": 1, "c": 3 }, true),
                (doc! { "b": 2, "c": 3 }, true),
                (doc! { "b": 2 }, false),
                (doc! { "c": 3 }, false),
            ],
        ),
        (doc! { "$nor": [{ "a": 1 }, { "b": 2 }] }, &[(doc! {}, true), (doc! { "b": 2 }, false)]),
        (doc! { "$or": [{}, { "a": 1 }] }, &[(doc! {}, true)]),
        (doc! {}, &[(doc! {}, true), (doc! { "a": 1 }, true)]),
        (doc! { "$comment": 5, "a": 1 }, &[(doc! { "a": 1 }, true), (doc! {}, false)]),
        (doc! { "$alwaysTrue": 1 }, &[(doc! {}, true)]),
        (doc! { "$alwaysFalse": 1.0 }, &[(doc! {}, false)]),
        (doc! { "$sampleRate": 0 }, &[(doc! {}, false)]),
        (doc! { "$sampleRate": 1.0 }, &[(doc! {}, true)]),
    ]);
    refused(&[
        (doc! { "$and": 1 }, 2, "$and must be an array"),
        (doc! { "$or": {} }, 2, "$or must be an array"),
        (doc! { "$nor": [] }, 2, "must be a nonempty array"),
        (doc! { "$or": [1] }, 2, "entries need to be full objects"),
        (doc! { "$foo": 1 }, 2, "unknown top level operator: $foo"),
        (doc! { "a": { "$foo": 1 } }, 2, "unknown operator: $foo"),
        (doc! { "a": { "$or": [{}] } }, 2, "unknown operator: $or"),
        (doc! { "a": { "$gt": 1, "b": 2 } }, 2, "unknown operator: b"),
        (doc! { "$alwaysTrue": 2 }, 9, "must be an integer value of 1"),
        (doc! { "$sampleRate": "x" }, 2, "must be a numeric type"),
        (doc! { "$sampleRate": 1.5 }, 2, "must be in [0, 1]"),
        (doc! { "$sampleRate": -0.5 }, 2, "must be in [0, 1]"),
    ]);
}

#[test]
fn not() {
    check(&[
        (
            doc! { "a": { "$not": { "$gt": 5 } } },
            &[
                (doc! { "a": 5 }, true),
                (doc! {}, true),
                (doc! { "a": "x" }, true),
                (doc! { "a": 6 }, false),
                (doc! { "a": [1, 6] }, false),
            ],
        ),
        (
            doc! { "a": { "$not": { "$gt": 1, "$lt": 5 } } },
            &[(doc! { "a": 3 }, false), (doc! { "a": 7 }, true), (doc! { "a": [0, 9] }, false)],
        ),
        (
            doc! { "a": { "$not": regex("^x", "") } },
            &[(doc! { "a": "xy" }, false), (doc! { "a": 1 }, true)],
        ),
        (
            doc! { "a": { "$not": { "$not": { "$eq": 1 } } } },
            &[(doc! { "a": 1 }, true), (doc! {}, false)],
        ),
        (doc! { "a": { "$not": { "$in": [] } } }, &[(doc! {}, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$not": 1 } }, 2, "$not needs a regex or a document"),
        (doc! { "a": { "$not": {} } }, 2, "$not cannot be empty"),
        (doc! { "a": { "$not": { "b": 1 } } }, 2, "unknown operator: b"),
    ]);
}

#[test]
fn nesting_is_bounded() {
    let mut nested = bson!({ "a": 1 });
    for _ in 0..250 {
        nested = bson!({ "$and": [nested] });
    }
    let nested = nested.as_document().unwrap().clone();
    refused(&[(nested, 2, "exceeded maximum query tree depth")]);
}
