//! Each operator: ordinary, missing, null, wrong type with its code, nested and
//! array paths.

use super::*;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, Regex, Timestamp, bson, doc, oid::ObjectId};

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn filter(filter: &Document) -> Filter {
    Filter::parse(&raw(filter), &Context::new())
        .unwrap_or_else(|error| panic!("{filter} is refused: {error}"))
}

fn matches(by: Document, document: Document) -> bool {
    filter(&by).matches(&raw(&document)).unwrap()
}

/// Every filter against every document, with what is expected.
fn check(rows: &[(Document, &[(Document, bool)])]) {
    for (by, documents) in rows {
        let parsed = filter(by);
        for (document, expected) in *documents {
            let matched = parsed.matches(&raw(document)).unwrap();
            assert_eq!(matched, *expected, "{by} on {document}");
        }
    }
}

fn refused(rows: &[(Document, i32, &str)]) {
    for (by, code, message) in rows {
        let error = match Filter::parse(&raw(by), &Context::new()) {
            Ok(_) => panic!("{by} is accepted"),
            Err(error) => error,
        };
        assert_eq!(error.code().number(), *code, "{by}: {error}");
        assert!(error.message().contains(message), "{by}: {error}");
    }
}

fn regex(pattern: &str, options: &str) -> Bson {
    Bson::RegularExpression(Regex {
        pattern: pattern.to_owned().try_into().unwrap(),
        options: options.to_owned().try_into().unwrap(),
    })
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().unwrap())
}

fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

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
fn exists() {
    check(&[
        (
            doc! { "a": { "$exists": true } },
            &[
                (doc! { "a": 1 }, true),
                (doc! { "a": null }, true),
                (doc! { "a": [] }, true),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$exists": 0 } }, &[(doc! {}, true), (doc! { "a": null }, false)]),
        (doc! { "a": { "$exists": "yes" } }, &[(doc! { "a": 1 }, true)]),
        (
            doc! { "a.b": { "$exists": true } },
            &[
                (doc! { "a": [{ "b": 1 }, {}] }, true),
                (doc! { "a": [{}] }, false),
                (doc! { "a": 1 }, false),
            ],
        ),
        (
            doc! { "a.b": { "$exists": false } },
            &[(doc! { "a": [] }, true), (doc! { "a": [{ "b": 1 }, {}] }, false)],
        ),
        (
            doc! { "a.1": { "$exists": true } },
            &[(doc! { "a": [1, 2] }, true), (doc! { "a": [1] }, false)],
        ),
    ]);
}

#[test]
fn types() {
    check(&[
        (
            doc! { "a": { "$type": "int" } },
            &[
                (doc! { "a": 1 }, true),
                (doc! { "a": 1i64 }, false),
                (doc! { "a": ["x", 1] }, true),
                (doc! {}, false),
            ],
        ),
        (
            doc! { "a": { "$type": "number" } },
            &[
                (doc! { "a": 1 }, true),
                (doc! { "a": 1i64 }, true),
                (doc! { "a": 1.5 }, true),
                (doc! { "a": decimal("1") }, true),
                (doc! { "a": "1" }, false),
            ],
        ),
        (
            doc! { "a": { "$type": "array" } },
            &[(doc! { "a": [] }, true), (doc! { "a": [[1]] }, true), (doc! { "a": 1 }, false)],
        ),
        (
            doc! { "a": { "$type": [2, "bool", -1, 127.0] } },
            &[
                (doc! { "a": "x" }, true),
                (doc! { "a": false }, true),
                (doc! { "a": Bson::MinKey }, true),
                (doc! { "a": Bson::MaxKey }, true),
                (doc! { "a": 1 }, false),
            ],
        ),
        (doc! { "a": { "$type": 10 } }, &[(doc! { "a": null }, true), (doc! {}, false)]),
        (doc! { "a": { "$type": "objectId" } }, &[(doc! { "a": ObjectId::new() }, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$type": "foo" } }, 2, "Unknown type name alias: foo"),
        (doc! { "a": { "$type": 100 } }, 2, "Invalid numerical type code: 100"),
        (doc! { "a": { "$type": 0 } }, 2, "Instead use {$exists:false}"),
        (doc! { "a": { "$type": 1.5 } }, 2, "Invalid numerical type code"),
        (doc! { "a": { "$type": [] } }, 9, "must match at least one type"),
        (doc! { "a": { "$type": true } }, 14, "type must be represented as a number or a string"),
        (doc! { "a": { "$type": null } }, 14, "type must be represented"),
    ]);
}

#[test]
fn modulo() {
    check(&[
        (
            doc! { "a": { "$mod": [4, 1] } },
            &[
                (doc! { "a": 5 }, true),
                (doc! { "a": 5i64 }, true),
                (doc! { "a": 5.9 }, true),
                (doc! { "a": decimal("9.5") }, true),
                (doc! { "a": 6 }, false),
                (doc! { "a": -3 }, false),
                (doc! { "a": "5" }, false),
                (doc! { "a": [2, 5] }, true),
                (doc! { "a": f64::INFINITY }, false),
                (doc! { "a": f64::NAN }, false),
                (doc! { "a": 1e300 }, false),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$mod": [-1, 0] } }, &[(doc! { "a": i64::MIN }, true)]),
        (doc! { "a": { "$mod": [4.9, -3.2] } }, &[(doc! { "a": -7 }, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$mod": 1 } }, 2, "malformed mod, needs to be an array"),
        (doc! { "a": { "$mod": [] } }, 2, "malformed mod, not enough elements"),
        (doc! { "a": { "$mod": [1] } }, 2, "malformed mod, not enough elements"),
        (doc! { "a": { "$mod": [1, 2, 3] } }, 2, "malformed mod, too many elements"),
        (doc! { "a": { "$mod": ["x", 1] } }, 2, "divisor not a number"),
        (doc! { "a": { "$mod": [1, "x"] } }, 2, "remainder not a number"),
        (doc! { "a": { "$mod": [0, 1] } }, 2, "divisor cannot be 0"),
        (doc! { "a": { "$mod": [0.5, 1] } }, 2, "divisor cannot be 0"),
        (doc! { "a": { "$mod": [f64::NAN, 1] } }, 2, "divisor value is invalid"),
        (doc! { "a": { "$mod": [1, f64::INFINITY] } }, 2, "remainder value is invalid"),
    ]);
}

#[test]
fn regexes() {
    check(&[
        (
            doc! { "a": regex("^ab", "") },
            &[
                (doc! { "a": "abc" }, true),
                (doc! { "a": "xab" }, false),
                (doc! { "a": ["x", "abc"] }, true),
                (doc! { "a": Bson::Symbol("abc".into()) }, true),
                (doc! { "a": regex("^ab", "") }, true),
                (doc! { "a": regex("^ab", "i") }, false),
                (doc! { "a": 1 }, false),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$regex": "^AB", "$options": "i" } }, &[(doc! { "a": "abc" }, true)]),
        (doc! { "a": { "$options": "i", "$regex": "^AB" } }, &[(doc! { "a": "abc" }, true)]),
        (doc! { "a": { "$regex": regex("é.$", "s") } }, &[(doc! { "a": "é\n" }, true)]),
        (
            doc! { "a": { "$regex": "b", "$ne": "abc" } },
            &[(doc! { "a": "abc" }, false), (doc! { "a": "abd" }, true)],
        ),
        (doc! { "a": { "$not": { "$regex": "b" } } }, &[(doc! { "a": "c" }, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$regex": 1 } }, 2, "$regex has to be a string"),
        (doc! { "a": { "$regex": "x", "$options": 1 } }, 2, "$options has to be a string"),
        (doc! { "a": { "$options": "i" } }, 2, "$options needs a $regex"),
        (doc! { "a": { "$regex": "(" } }, 51091, "Regular expression is invalid"),
        (
            doc! { "a": { "$regex": "a", "$options": "q" } },
            51108,
            "invalid flag in regex options: q",
        ),
        (doc! { "a": { "$regex": "a\0b" } }, 2, "embedded null byte"),
        (
            doc! { "a": { "$regex": regex("a", "i"), "$options": "s" } },
            51075,
            "options set in both",
        ),
        (
            doc! { "a": { "$options": "s", "$regex": regex("a", "i") } },
            51074,
            "options set in both",
        ),
    ]);
}

#[test]
fn all() {
    check(&[
        (
            doc! { "a": { "$all": [1, 2] } },
            &[
                (doc! { "a": [2, 3, 1] }, true),
                (doc! { "a": [1] }, false),
                (doc! { "a": 1 }, false),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$all": [1] } }, &[(doc! { "a": 1 }, true)]),
        (
            doc! { "a": { "$all": [[1, 2]] } },
            &[(doc! { "a": [1, 2] }, true), (doc! { "a": [[1, 2]] }, true)],
        ),
        (doc! { "a": { "$all": [] } }, &[(doc! { "a": [] }, false), (doc! {}, false)]),
        (doc! { "a": { "$all": [null] } }, &[(doc! {}, true)]),
        (
            doc! { "a": { "$all": [regex("^x", ""), "b"] } },
            &[(doc! { "a": ["xx", "b"] }, true), (doc! { "a": ["b"] }, false)],
        ),
        (
            doc! { "a": { "$all": [{ "$elemMatch": { "b": 1, "c": 1 } }, { "$elemMatch": { "b": 2 } }] } },
            &[
                (doc! { "a": [{ "b": 1, "c": 1 }, { "b": 2 }] }, true),
                (doc! { "a": [{ "b": 1 }, { "b": 2 }] }, false),
            ],
        ),
    ]);
    refused(&[
        (doc! { "a": { "$all": 1 } }, 2, "$all needs an array"),
        (doc! { "a": { "$all": [{ "$gt": 1 }] } }, 2, "no $ expressions in $all"),
        (doc! { "a": { "$all": [{ "$elemMatch": {} }, 5] } }, 2, "$all"),
        (doc! { "a": { "$all": [5, { "$elemMatch": {} }] } }, 2, "no $ expressions in $all"),
    ]);
}

#[test]
fn elem_match() {
    check(&[
        (
            doc! { "a": { "$elemMatch": { "b": 1, "c": { "$gt": 1 } } } },
            &[
                (doc! { "a": [{ "b": 1, "c": 2 }] }, true),
                (doc! { "a": [{ "b": 1, "c": 0 }, { "b": 2, "c": 2 }] }, false),
                (doc! { "a": { "b": 1, "c": 2 } }, false),
                (doc! { "a": [] }, false),
                (doc! {}, false),
            ],
        ),
        (
            doc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 5 } } },
            &[
                (doc! { "a": [0, 3] }, true),
                (doc! { "a": [0, 9] }, false),
                (doc! { "a": 3 }, false),
                // An element that is an array is looked at as itself.
                (doc! { "a": [[3]] }, false),
            ],
        ),
        (
            doc! { "a": { "$elemMatch": { "$elemMatch": { "$eq": 3 } } } },
            &[(doc! { "a": [[3]] }, true), (doc! { "a": [3] }, false)],
        ),
        (doc! { "a": { "$elemMatch": { "0": 3 } } }, &[(doc! { "a": [[3]] }, true)]),
        (
            doc! { "a": { "$elemMatch": { "$or": [{ "b": 1 }, { "b": 2 }] } } },
            &[(doc! { "a": [{ "b": 2 }] }, true), (doc! { "a": [{ "b": 3 }] }, false)],
        ),
        (
            doc! { "a": { "$elemMatch": { "$not": { "$gt": 5 } } } },
            &[(doc! { "a": [9, 3] }, true), (doc! { "a": [9] }, false)],
        ),
        (
            doc! { "a": { "$elemMatch": { "$ne": 1 } } },
            &[(doc! { "a": [1, 2] }, true), (doc! { "a": [1] }, false)],
        ),
        (
            doc! { "a.b": { "$elemMatch": { "$eq": 1 } } },
            &[
                (doc! { "a": [{ "b": 1 }, { "b": [1] }] }, true),
                (doc! { "a": [{ "b": 1 }] }, false),
            ],
        ),
        (
            doc! { "a": { "$elemMatch": {} } },
            &[(doc! { "a": [{}] }, true), (doc! { "a": [1] }, false)],
        ),
    ]);
    refused(&[
        (doc! { "a": { "$elemMatch": 1 } }, 2, "$elemMatch needs an Object"),
        (doc! { "a": { "$elemMatch": { "$where": "x" } } }, 2, "$where"),
        (doc! { "a": { "$elemMatch": { "b": 1, "$expr": true } } }, 2, "top-level document"),
    ]);
}

#[test]
fn size() {
    check(&[
        (
            doc! { "a": { "$size": 2 } },
            &[
                (doc! { "a": [1, 2] }, true),
                (doc! { "a": [1] }, false),
                (doc! { "a": [[1, 2]] }, false),
                (doc! { "a": 2 }, false),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$size": 0.0 } }, &[(doc! { "a": [] }, true)]),
        (doc! { "a.b": { "$size": 1 } }, &[(doc! { "a": [{ "b": [5] }] }, true)]),
        (doc! { "a.0": { "$size": 1 } }, &[(doc! { "a": [[5]] }, true)]),
    ]);
    refused(&[
        (
            doc! { "a": { "$size": "x" } },
            2,
            "Failed to parse $size. Expected a number in: $size: \"x\"",
        ),
        (
            doc! { "a": { "$size": 1.5 } },
            2,
            "Failed to parse $size. Expected an integer: $size: 1.5",
        ),
        (doc! { "a": { "$size": -1 } }, 2, "Expected a non-negative number in: $size: -1"),
        (doc! { "a": { "$size": f64::INFINITY } }, 2, "Cannot represent as a 64-bit integer"),
    ]);
}

#[test]
fn bits() {
    check(&[
        (
            doc! { "a": { "$bitsAllSet": [1, 5] } },
            &[
                (doc! { "a": 34 }, true),
                (doc! { "a": 34.0 }, true),
                (doc! { "a": 2 }, false),
                (doc! { "a": -1 }, true),
                (doc! { "a": 34.5 }, false),
                (doc! { "a": binary(&[34]) }, true),
                (doc! { "a": binary(&[]) }, false),
                (doc! { "a": "x" }, false),
                (doc! { "a": [1, 34] }, true),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$bitsAllSet": 34i64 } }, &[(doc! { "a": 35 }, true)]),
        (doc! { "a": { "$bitsAllSet": binary(&[34]) } }, &[(doc! { "a": 35 }, true)]),
        (
            doc! { "a": { "$bitsAllSet": [200] } },
            &[(doc! { "a": -1 }, true), (doc! { "a": 1 }, false)],
        ),
        (
            doc! { "a": { "$bitsAllClear": 3 } },
            &[(doc! { "a": 4 }, true), (doc! { "a": 5 }, false)],
        ),
        (doc! { "a": { "$bitsAnySet": 3 } }, &[(doc! { "a": 5 }, true), (doc! { "a": 4 }, false)]),
        (
            doc! { "a": { "$bitsAnyClear": 3 } },
            &[(doc! { "a": 5 }, true), (doc! { "a": 7 }, false)],
        ),
    ]);
    refused(&[
        (doc! { "a": { "$bitsAllSet": "x" } }, 2, "takes an Array, a number, or a BinData"),
        (doc! { "a": { "$bitsAllSet": -1 } }, 9, "Expected a non-negative number"),
        (doc! { "a": { "$bitsAllSet": 1.5 } }, 9, "Expected an integer"),
        (doc! { "a": { "$bitsAllSet": [-1] } }, 2, "Failed to parse bit position"),
        (doc! { "a": { "$bitsAllSet": ["x"] } }, 2, "Failed to parse bit position"),
    ]);
}

#[test]
fn expr() {
    assert!(matches(doc! { "$expr": { "$eq": ["$a", "$b"] } }, doc! { "a": 1, "b": 1.0 }));
    assert!(!matches(doc! { "$expr": "$missing" }, doc! { "a": 1 }));
    assert!(matches(doc! { "$expr": "$a" }, doc! { "a": "x" }));
}

#[test]
fn what_is_not_supported_is_refused() {
    refused(&[
        (doc! { "$where": "this.a" }, 2, "server-side JavaScript"),
        (doc! { "$text": { "$search": "x" } }, 27, "text index required"),
        (doc! { "a": { "$near": [0, 0] } }, 291, "$near is not supported"),
        (doc! { "a": { "$geoWithin": {} } }, 238, "$geoWithin is not supported"),
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

#[test]
fn the_position_is_that_of_the_outermost_array() {
    let rows = [
        (doc! { "a": 7 }, doc! { "a": [5, 7] }, Some(1)),
        (doc! { "a": [5, 7] }, doc! { "a": [5, 7] }, None),
        (doc! { "a.b": 2 }, doc! { "a": [{ "b": 1 }, { "b": [9, 2] }] }, Some(1)),
        (doc! { "a": { "$elemMatch": { "b": 2 } } }, doc! { "a": [{}, {}, { "b": 2 }] }, Some(2)),
        (doc! { "a": { "$elemMatch": { "$gt": 5 } } }, doc! { "a": [1, 9] }, Some(1)),
        (doc! { "x": 1, "a": 7 }, doc! { "x": 1, "a": [7] }, Some(0)),
        (doc! { "a": { "$ne": 7 } }, doc! { "a": [5] }, None),
        (doc! { "a": { "$not": { "$ne": 7 } } }, doc! { "a": [5, 7] }, None),
        (doc! { "a.1": 7 }, doc! { "a": [5, 7] }, Some(1)),
    ];
    for (by, document, element) in rows {
        let matched = filter(&by).matches_at(&raw(&document)).unwrap();
        assert_eq!(matched, Some(Matched { element }), "{by} on {document}");
    }
    assert_eq!(filter(&doc! { "a": 1 }).matches_at(&raw(&doc! {})).unwrap(), None);
}

#[test]
fn equalities_for_upserts() {
    let found = |by: Document| -> Vec<String> {
        let parsed = filter(&by);
        let found = parsed.equalities().unwrap();
        found
            .iter()
            .map(|(path, value)| format!("{path}={}", crate::describe::value(*value)))
            .collect()
    };
    assert_eq!(found(doc! { "a": 1, "b.c": "x", "d": { "$gt": 5 } }), ["a=1", "b.c=\"x\""]);
    assert_eq!(found(doc! { "$and": [{ "a": 1 }, { "$and": [{ "b": 2 }] }] }), ["a=1", "b=2"]);
    assert_eq!(found(doc! { "$or": [{ "a": 1 }] }), ["a=1"]);
    assert!(found(doc! { "$or": [{ "a": 1 }, { "a": 2 }] }).is_empty());
    assert_eq!(found(doc! { "a": { "$in": [1] }, "b": { "$all": [2] } }), ["a=1", "b=2"]);
    assert!(found(doc! { "a": { "$in": [1, 2] }, "b": { "$ne": 1 } }).is_empty());
    let code = |by: Document| filter(&by).equalities().unwrap_err().code().number();
    assert_eq!(code(doc! { "a": { "$all": [1, 2] } }), 54);
    assert_eq!(code(doc! { "a": 1, "$and": [{ "a.b": 2 }] }), 54);
}

#[test]
fn filters_are_shown_with_every_operator() {
    let rows = [
        (doc! {}, doc! {}),
        (doc! { "a": 1 }, doc! { "a": { "$eq": 1 } }),
        (
            doc! { "b": { "$gt": 5 }, "a": 1 },
            doc! { "$and": [{ "a": { "$eq": 1 } }, { "b": { "$gt": 5 } }] },
        ),
        (doc! { "a": { "$ne": 1 } }, doc! { "a": { "$not": { "$eq": 1 } } }),
        (doc! { "$expr": { "$gt": ["$a", 1] } }, doc! { "$expr": { "$gt": ["$a", 1] } }),
        (doc! { "a": { "$exists": false } }, doc! { "a": { "$not": { "$exists": true } } }),
        (doc! { "a": { "$in": [2, 1] } }, doc! { "a": { "$in": [1, 2] } }),
        (doc! { "a": { "$in": [] } }, doc! { "$alwaysFalse": 1 }),
        (doc! { "a": regex("x", "i") }, doc! { "a": { "$regex": "x", "$options": "i" } }),
        (doc! { "a": { "$type": "string" } }, doc! { "a": { "$type": [2] } }),
        (
            doc! { "$or": [{ "a": { "$lt": 1 } }, { "$nor": [{ "b": 1 }] }] },
            doc! { "$or": [{ "a": { "$lt": 1 } }, { "$nor": [{ "b": { "$eq": 1 } }] }] },
        ),
    ];
    for (by, shown) in rows {
        assert_eq!(filter(&by).to_document(), raw(&shown), "{by}");
    }
}

#[test]
fn needs_are_the_paths_named() {
    let mut needs = Needs::none();
    filter(&doc! { "a.b": 1, "$or": [{ "c": 1 }, { "d": { "$elemMatch": { "e": 1 } } }] })
        .needs(&mut needs);
    let paths = ["a.b", "c", "d"].map(Path::new).to_vec();
    assert_eq!(needs, Needs::Paths(paths));
}

#[test]
fn a_collation_decides_how_strings_compare() {
    let collation = raw(&doc! { "locale": "en", "strength": 2 });
    let collator = Collator::parse(&collation).unwrap().map(Arc::new);
    let context = Context { collator, ..Context::new() };
    let matches = |by: Document, document: Document| {
        Filter::parse(&raw(&by), &context).unwrap().matches(&raw(&document)).unwrap()
    };
    assert!(matches(doc! { "a": "abc" }, doc! { "a": "ABC" }));
    assert!(matches(doc! { "a": { "b": "x" } }, doc! { "a": { "b": "X" } }));
    assert!(matches(doc! { "a": { "$in": ["ZZ", "b", "A"] } }, doc! { "a": ["x", "B"] }));
    assert!(matches(doc! { "a": { "$gt": "B" } }, doc! { "a": "c" }));
    assert!(!matches(doc! { "a": { "$ne": "abc" } }, doc! { "a": "Abc" }));
    // Regular expressions are not touched by it.
    assert!(!matches(doc! { "a": regex("abc", "") }, doc! { "a": "ABC" }));
}

#[test]
fn one_value_can_be_matched() {
    let value_filter = |by: Document| ValueFilter::parse(&raw(&by), &Context::new()).unwrap();
    let list = raw(&doc! { "l": [1, 9, { "b": 1 }, [1]] });
    let list = value::element::get(&list, "l").unwrap();
    let which = |by: Document| -> Vec<bool> {
        let by = value_filter(by);
        list.children().map(|item| by.matches(item).unwrap()).collect()
    };
    assert_eq!(which(doc! { "$gt": 5 }), [false, true, false, false]);
    assert_eq!(which(doc! { "b": 1 }), [false, false, true, false]);
    assert_eq!(which(doc! { "$in": [1] }), [true, false, false, false]);
}
