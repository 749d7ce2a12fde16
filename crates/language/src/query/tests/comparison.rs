//! Comparisons: equality, order within a type class, membership.

use super::*;

#[test]
fn eq() {
    check(&[
        (
            doc! { "a": 1 },
            &[
                (doc! { "a": 1 }, true),
                (doc! { "a": 1i64 }, true),
                (doc! { "a": 1.0 }, true),
                (doc! { "a": decimal("1.00") }, true),
                (doc! { "a": 2 }, false),
                (doc! { "a": "1" }, false),
                (doc! {}, false),
                (doc! { "a": null }, false),
                (doc! { "a": [3, 1] }, true),
                (doc! { "a": [[1]] }, false),
                (doc! { "b": 1, "a": { "a": 1 } }, false),
            ],
        ),
        (
            doc! { "a": { "$eq": [1, 2] } },
            &[
                (doc! { "a": [1, 2] }, true),
                (doc! { "a": [[1, 2], 3] }, true),
                (doc! { "a": [1, 2, 3] }, false),
                (doc! { "a": [2, 1] }, false),
            ],
        ),
        (
            doc! { "a": { "b": 1 } },
            &[
                (doc! { "a": { "b": 1 } }, true),
                (doc! { "a": { "b": 1.0 } }, true),
                (doc! { "a": { "b": 1, "c": 2 } }, false),
                (doc! { "a": [{ "b": 1 }] }, true),
            ],
        ),
        (
            doc! { "a.b": 1 },
            &[
                (doc! { "a": { "b": 1 } }, true),
                (doc! { "a": [{ "b": 2 }, { "b": 1 }] }, true),
                (doc! { "a": [[{ "b": 1 }]] }, false),
                (doc! { "a.b": 1 }, false),
                (doc! { "a": 1 }, false),
            ],
        ),
        (
            doc! { "a.0": 1 },
            &[
                (doc! { "a": [1, 2] }, true),
                (doc! { "a": [2, 1] }, false),
                (doc! { "a": { "0": 1 } }, true),
                (doc! { "a": [{ "0": 1 }] }, true),
                (doc! { "a": [2, { "0": 1 }] }, true),
            ],
        ),
        (
            doc! { "a.0.b": 5 },
            &[
                (doc! { "a": [{ "b": 5 }, { "b": 6 }] }, true),
                (doc! { "a": [{ "b": 6 }, { "b": 5 }] }, false),
            ],
        ),
        (
            doc! { "a": f64::NAN },
            &[
                (doc! { "a": f64::NAN }, true),
                (doc! { "a": decimal("NaN") }, true),
                (doc! { "a": 0 }, false),
            ],
        ),
        (
            doc! { "a": { "$eq": regex("x", "") } },
            &[(doc! { "a": regex("x", "") }, true), (doc! { "a": "x" }, false)],
        ),
        (doc! { "a": {} }, &[(doc! { "a": {} }, true), (doc! { "a": { "b": 1 } }, false)]),
        (
            doc! { "a": { "$ref": "c", "$id": 1 } },
            &[
                (doc! { "a": { "$ref": "c", "$id": 1 } }, true),
                (doc! { "a": { "$ref": "c", "$id": 2 } }, false),
            ],
        ),
        (doc! { "a": Bson::Symbol("s".into()) }, &[(doc! { "a": "s" }, true)]),
    ]);
    refused(&[
        (doc! { "a": Bson::Undefined }, 2, "cannot compare to undefined"),
        (doc! { "a": { "$eq": Bson::Undefined } }, 2, "cannot compare to undefined"),
    ]);
}

#[test]
fn null_equals_missing() {
    check(&[
        (
            doc! { "a": null },
            &[
                (doc! { "a": null }, true),
                (doc! {}, true),
                (doc! { "a": 1 }, false),
                (doc! { "a": Bson::Undefined }, false),
                (doc! { "a": [] }, false),
                (doc! { "a": [1, null] }, true),
            ],
        ),
        (
            doc! { "a.b": null },
            &[
                (doc! { "a": { "b": null } }, true),
                (doc! { "a": {} }, true),
                (doc! { "a": 5 }, true),
                (doc! {}, true),
                (doc! { "a": [{ "b": 1 }, {}] }, true),
                (doc! { "a": [{ "b": 1 }] }, false),
                (doc! { "a": [1, 2] }, false),
                (doc! { "a": [] }, false),
            ],
        ),
        (
            doc! { "a": { "$ne": null } },
            &[(doc! { "a": 1 }, true), (doc! {}, false), (doc! { "a": null }, false)],
        ),
        (
            doc! { "a": { "$gte": null } },
            &[(doc! {}, true), (doc! { "a": null }, true), (doc! { "a": 1 }, false)],
        ),
        (doc! { "a": { "$gt": null } }, &[(doc! {}, false), (doc! { "a": null }, false)]),
        (
            doc! { "a": { "$in": [null, 7] } },
            &[
                (doc! {}, true),
                (doc! { "a": null }, true),
                (doc! { "a": 7 }, true),
                (doc! { "a": 1 }, false),
            ],
        ),
    ]);
}

#[test]
fn order_stays_within_a_type_class() {
    let now = DateTime::from_millis(1000);
    check(&[
        (
            doc! { "a": { "$gt": 5 } },
            &[
                (doc! { "a": 6 }, true),
                (doc! { "a": 5 }, false),
                (doc! { "a": 5.5 }, true),
                (doc! { "a": "6" }, false),
                (doc! { "a": [1, 9] }, true),
                (doc! { "a": true }, false),
                (doc! {}, false),
                (doc! { "a": f64::NAN }, false),
            ],
        ),
        (doc! { "a": { "$gte": 5 } }, &[(doc! { "a": 5i64 }, true), (doc! { "a": 4 }, false)]),
        (
            doc! { "a": { "$lt": 5 } },
            &[
                (doc! { "a": 4 }, true),
                (doc! { "a": f64::NAN }, false),
                (doc! { "a": null }, false),
            ],
        ),
        (
            doc! { "a": { "$lte": "m" } },
            &[(doc! { "a": "m" }, true), (doc! { "a": "n" }, false), (doc! { "a": 1 }, false)],
        ),
        (
            doc! { "a": { "$gt": 1, "$lt": 5 } },
            &[
                (doc! { "a": 3 }, true),
                // Different elements may satisfy different conditions.
                (doc! { "a": [0, 9] }, true),
                (doc! { "a": [9] }, false),
            ],
        ),
        (doc! { "a": { "$lt": f64::NAN } }, &[(doc! { "a": f64::NAN }, false)]),
        (
            doc! { "a": { "$lte": f64::NAN } },
            &[(doc! { "a": f64::NAN }, true), (doc! { "a": 1 }, false)],
        ),
        (
            doc! { "a": { "$lt": Bson::MaxKey } },
            &[
                (doc! { "a": 1 }, true),
                (doc! { "a": "x" }, true),
                (doc! {}, true),
                (doc! { "a": Bson::MaxKey }, false),
            ],
        ),
        (
            doc! { "a": { "$gt": Bson::MinKey } },
            &[(doc! { "a": 1 }, true), (doc! { "a": Bson::MinKey }, false)],
        ),
        (
            doc! { "a": { "$gt": [1, 2] } },
            &[
                (doc! { "a": [1, 3] }, true),
                (doc! { "a": [1, 2] }, false),
                (doc! { "a": 9 }, false),
            ],
        ),
        (
            doc! { "a": { "$gt": { "b": 1 } } },
            &[
                (doc! { "a": { "b": 2 } }, true),
                (doc! { "a": { "c": 0 } }, true),
                (doc! { "a": { "b": 1 } }, false),
            ],
        ),
        (
            doc! { "a": { "$gte": now } },
            &[
                (doc! { "a": DateTime::from_millis(1001) }, true),
                (doc! { "a": Timestamp { time: 5000, increment: 0 } }, false),
            ],
        ),
    ]);
    refused(&[(
        doc! { "a": { "$gt": regex("x", "") } },
        2,
        "Can't have RegEx as arg to predicate",
    )]);
}

#[test]
fn ne_and_nin() {
    check(&[
        (
            doc! { "a": { "$ne": 1 } },
            &[
                (doc! { "a": 2 }, true),
                (doc! {}, true),
                (doc! { "a": 1.0 }, false),
                (doc! { "a": [2, 1] }, false),
            ],
        ),
        (
            doc! { "a": { "$nin": [1, "x"] } },
            &[
                (doc! { "a": 2 }, true),
                (doc! {}, true),
                (doc! { "a": "x" }, false),
                (doc! { "a": [3, 1] }, false),
            ],
        ),
        (doc! { "a": { "$nin": [] } }, &[(doc! {}, true), (doc! { "a": 1 }, true)]),
        (
            doc! { "a": { "$nin": [regex("^x", "")] } },
            &[(doc! { "a": "xy" }, false), (doc! { "a": "y" }, true)],
        ),
    ]);
    refused(&[
        (doc! { "a": { "$ne": regex("x", "") } }, 2, "Can't have regex as arg to $ne."),
        (doc! { "a": { "$nin": 1 } }, 2, "$nin needs an array"),
        (doc! { "a": { "$nin": [{ "$gt": 1 }] } }, 2, "cannot nest $ under $in"),
    ]);
}

#[test]
fn r#in() {
    check(&[
        (
            doc! { "a": { "$in": [5, "x", [1], { "b": 1 }, regex("^z", "i")] } },
            &[
                (doc! { "a": 5.0 }, true),
                (doc! { "a": "x" }, true),
                (doc! { "a": [1] }, true),
                (doc! { "a": { "b": 1 } }, true),
                (doc! { "a": "Zebra" }, true),
                (doc! { "a": "y" }, false),
                (doc! { "a": [9, "x"] }, true),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$in": [] } }, &[(doc! { "a": 1 }, false), (doc! {}, false)]),
        (doc! { "a.b": { "$in": [1] } }, &[(doc! { "a": [{ "b": [0, 1] }] }, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$in": 1 } }, 2, "$in needs an array"),
        (doc! { "a": { "$in": [{ "$gt": 1 }] } }, 2, "cannot nest $ under $in"),
        (doc! { "a": { "$in": [Bson::Undefined] } }, 2, "cannot be undefined"),
    ]);
}
