use super::*;
use bson::{Bson, Document, doc, rawdoc};

fn code(spec: Document) -> i32 {
    let spec = RawDocumentBuf::try_from(&spec).unwrap();
    IndexSpec::parse(&spec).map_or_else(|error| error.code().number(), |_| 0)
}

#[test]
fn keys_are_checked() {
    let cases = [
        (doc! { "a": 1 }, 0),
        (doc! { "a.b": -1.5, "c": 1_i64 }, 0),
        (doc! { "a": "hashed" }, 0),
        (doc! { "a": "hashed", "b": 1 }, 0),
        (doc! { "$**": 1 }, 0),
        (doc! { "a.$**": 1 }, 0),
        (doc! { "a.$id": 1 }, 0),
        (doc! {}, 67),
        (doc! { "a": 0 }, 67),
        (doc! { "a": f64::NAN }, 67),
        (doc! { "a": true }, 67),
        (doc! { "a": Bson::Null }, 67),
        (doc! { "a": {} }, 67),
        (doc! { "a": [] }, 67),
        (doc! { "a": "" }, 67),
        (doc! { "a": "nonsense" }, 67),
        (doc! { "a": "text" }, 67),
        (doc! { "a": "2d" }, 67),
        (doc! { "a": "2dsphere" }, 67),
        (doc! { "a": "geoHaystack" }, 67),
        (doc! { "a": "wildcard" }, 7246202),
        (doc! { "": 1 }, 67),
        (doc! { "a.": 1 }, 67),
        (doc! { ".a": 1 }, 67),
        (doc! { "a..b": 1 }, 67),
        (doc! { "$a": 1 }, 67),
        (doc! { "a.$b": 1 }, 67),
        (doc! { "$id": 1 }, 67),
        (doc! { "_fts": 1 }, 67),
        (doc! { "a": "hashed", "b": "hashed" }, 31303),
        (doc! { "$**": 1, "a.$**": 1 }, 7246201),
        (doc! { "a.b": 1, "a.b.$**": 1 }, 7246204),
        (doc! { "a": 1, "b.$**": 1 }, 0),
        (doc! { "$**": 1, "a": 1 }, 67),
        ((0..33).map(|n| (format!("f{n}"), Bson::Int32(1))).collect(), 13103),
        (doc! { "x".repeat(3000): 1 }, 67),
    ];
    for (key, expected) in cases {
        assert_eq!(code(doc! { "key": key.clone(), "name": "x" }), expected, "{key}");
    }
    let twice = rawdoc! { "key": { "a": 1, "a": -1 }, "name": "x" };
    assert_eq!(IndexSpec::parse(&twice).unwrap_err().code().number(), 2);
}

#[test]
fn options_are_checked() {
    let cases = [
        (doc! { "unique": true, "sparse": 1, "background": 0.0, "v": 2, "ns": "d.c" }, 0),
        (doc! { "unique": "x" }, 14),
        (doc! { "sparse": Bson::Null }, 14),
        (doc! { "hidden": 1 }, 14),
        (doc! { "hidden": true }, 0),
        (doc! { "v": 1 }, 0),
        (doc! { "v": 3 }, 67),
        (doc! { "v": "x" }, 14),
        (doc! { "v": 1.5 }, 2),
        (doc! { "v": 1, "collation": { "locale": "en" } }, 67),
        (doc! { "collation": {} }, 2),
        (doc! { "collation": 1 }, 14),
        (doc! { "partialFilterExpression": 1 }, 14),
        (doc! { "partialFilterExpression": {}, "sparse": true }, 67),
        (doc! { "storageEngine": 1 }, 14),
        (doc! { "expireAfterSeconds": "x" }, 67),
        (doc! { "expireAfterSeconds": -1 }, 67),
        (doc! { "expireAfterSeconds": f64::NAN }, 67),
        (doc! { "expireAfterSeconds": 1_i64 << 31 }, 67),
        (doc! { "expireAfterSeconds": 3600.9 }, 0),
        (doc! { "wildcardProjection": { "a": 1 } }, 2),
        (doc! { "weights": { "a": 1 } }, 67),
        (doc! { "default_language": 1 }, 14),
        (doc! { "bits": "x" }, 14),
        (doc! { "unique": true, "prepareUnique": true }, 67),
        (doc! { "nonsense": 1 }, 197),
        (doc! { "clustered": true }, 67),
        (doc! { "clustered": false, "unique": true }, 6492800),
        (doc! { "clustered": true, "unique": true, "sparse": true }, 197),
    ];
    for (options, expected) in cases {
        let mut spec = doc! { "key": { "a": 1 }, "name": "a_1" };
        spec.extend(options.clone());
        assert_eq!(code(spec), expected, "{options}");
    }
    let compound = doc! { "key": { "a": 1, "b": 1 }, "name": "x", "expireAfterSeconds": 1 };
    assert_eq!(code(compound), 67);
}

#[test]
fn some_kinds_exclude_options() {
    assert_eq!(code(doc! { "key": { "a": "hashed" }, "name": "x", "unique": true }), 16764);
    for option in ["unique", "sparse"] {
        assert_eq!(code(doc! { "key": { "$**": 1 }, "name": "x", option: true }), 67);
    }
    let wildcard = |further: Document| {
        let mut spec = doc! { "key": { "$**": 1 }, "name": "x" };
        spec.extend(further);
        code(spec)
    };
    assert_eq!(wildcard(doc! { "expireAfterSeconds": 1 }), 67);
    assert_eq!(wildcard(doc! { "wildcardProjection": { "a": 1 } }), 0);
    assert_eq!(wildcard(doc! { "wildcardProjection": {} }), 9);
    assert_eq!(wildcard(doc! { "wildcardProjection": 1 }), 14);
    let partial = doc! { "key": { "a.$**": 1 }, "name": "x", "wildcardProjection": { "a": 1 } };
    assert_eq!(code(partial), 9);
}

#[test]
fn names_and_the_id_index_have_rules() {
    assert_eq!(code(doc! { "key": { "a": 1 } }), 9);
    assert_eq!(code(doc! { "name": "x" }), 9);
    assert_eq!(code(doc! { "key": 1, "name": "x" }), 14);
    assert_eq!(code(doc! { "key": { "a": 1 }, "name": 1 }), 14);
    assert_eq!(code(doc! { "key": { "a": 1 }, "name": "" }), 67);
    assert_eq!(code(doc! { "key": { "a": 1 }, "name": "*" }), 2);
    assert_eq!(code(doc! { "key": { "a": 1 }, "name": "_id_" }), 2);
    assert_eq!(code(doc! { "key": { "_id": 1 }, "name": "_id_" }), 0);
    assert_eq!(code(doc! { "key": { "_id": 1 }, "name": "any" }), 0);
    assert_eq!(code(doc! { "key": { "_id": -1 }, "name": "x", "unique": true }), 0);
    for option in ["unique", "sparse", "hidden"] {
        assert_eq!(code(doc! { "key": { "_id": 1 }, "name": "_id_", option: true }), 197);
    }
}

#[test]
fn a_specification_is_kept_in_one_order() {
    let spec = rawdoc! {
        "expireAfterSeconds": 60.0, "unique": 1, "name": "a_1", "key": { "a": 1 }, "hidden": false,
        "sparse": false, "ns": "d.c", "dropDups": true,
    };
    assert_eq!(
        IndexSpec::parse(&spec).unwrap().normalized(),
        rawdoc! {
            "v": 2, "key": { "a": 1 }, "name": "a_1", "unique": true, "sparse": false,
            "expireAfterSeconds": 60,
        }
    );
    let id = rawdoc! { "key": { "_id": 1 }, "name": "x" };
    assert_eq!(
        IndexSpec::parse(&id).unwrap().normalized(),
        rawdoc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" }
    );
}
