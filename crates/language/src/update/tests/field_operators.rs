//! Operators on single fields.

use super::{changes, errors, no_changes};
use bson::{Decimal128, rawdoc};

fn decimal(text: &str) -> Decimal128 {
    text.parse().unwrap()
}

#[test]
fn set() {
    changes(vec![
        (
            rawdoc! { "_id": 1, "a": 1, "b": 2 },
            rawdoc! { "$set": { "a": "x" } },
            rawdoc! { "_id": 1, "a": "x", "b": 2 },
        ),
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "$set": { "z": 1, "b": { "c": 2 }, "a": [1] } },
            rawdoc! { "_id": 1, "a": [1], "b": { "c": 2 }, "z": 1 },
        ),
        // The type is part of the value.
        (
            rawdoc! { "_id": 1, "a": 1 },
            rawdoc! { "$set": { "a": 1i64 } },
            rawdoc! { "_id": 1, "a": 1i64 },
        ),
        (
            rawdoc! { "a": { "x": 1, "y": 2 } },
            rawdoc! { "$set": { "a": { "y": 2, "x": 1 } } },
            rawdoc! { "a": { "y": 2, "x": 1 } },
        ),
        // Names with `$` are fine below the top.
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "$set": { "a.$b": 1, "c": { "$d": 1 } } },
            rawdoc! { "_id": 1, "a": { "$b": 1 }, "c": { "$d": 1 } },
        ),
    ]);
    no_changes(vec![
        (rawdoc! { "_id": 1, "a": 1 }, rawdoc! { "$set": { "a": 1 } }),
        (rawdoc! { "_id": 1, "a": 1 }, rawdoc! { "$set": { "_id": 1 } }),
        (rawdoc! { "_id": 1 }, rawdoc! { "$set": {} }),
        (rawdoc! { "a": { "b": [1, { "c": 2 }] } }, rawdoc! { "$set": { "a.b.1.c": 2 } }),
    ]);
    errors(vec![
        (rawdoc! { "_id": 1 }, rawdoc! { "$set": { "$a": 1 } }, 52, "'$a' in '$a' is not allowed"),
        (rawdoc! { "_id": 1, "$a": 1 }, rawdoc! { "$set": { "$a": 2 } }, 52, "$a"),
        (rawdoc! { "_id": 1 }, rawdoc! { "$set": { "$id": 1 } }, 55, "$ref"),
        (rawdoc! { "_id": 1 }, rawdoc! { "$set": { "_id": 2 } }, 66, "immutable field '_id'"),
        (rawdoc! { "_id": 1 }, rawdoc! { "$set": { "_id": 1.0 } }, 66, "immutable field '_id'"),
        (rawdoc! { "_id": { "a": 1 } }, rawdoc! { "$set": { "_id.b": 1 } }, 66, "_id"),
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "$set": 5 },
            9,
            "Modifiers operate on fields but we found type int",
        ),
    ]);
}

#[test]
fn unset() {
    changes(vec![
        (
            rawdoc! { "_id": 1, "a": 1, "b": { "c": 1, "d": 2 } },
            rawdoc! { "$unset": { "a": "", "b.c": "" } },
            rawdoc! { "_id": 1, "b": { "d": 2 } },
        ),
        (rawdoc! { "a": { "b": 1 } }, rawdoc! { "$unset": { "a.b": 1 } }, rawdoc! { "a": {} }),
        // In an array an element becomes null, whatever it was.
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$unset": { "a.0": 1 } }, rawdoc! { "a": [null, 2] }),
        (rawdoc! { "a": [null] }, rawdoc! { "$unset": { "a.0": 1 } }, rawdoc! { "a": [null] }),
    ]);
    no_changes(vec![
        (rawdoc! { "_id": 1 }, rawdoc! { "$unset": { "a": 1, "b.c.d": 1 } }),
        (rawdoc! { "a": 5 }, rawdoc! { "$unset": { "a.b": 1 } }),
        (rawdoc! { "a": [1] }, rawdoc! { "$unset": { "a.b": 1, "a.7": 1 } }),
    ]);
    errors(vec![(rawdoc! { "_id": 1 }, rawdoc! { "$unset": { "_id": 1 } }, 66, "_id")]);
}

#[test]
fn inc() {
    changes(vec![
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": 2 } }, rawdoc! { "a": 3 }),
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": 2i64 } }, rawdoc! { "a": 3i64 }),
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": 0.5 } }, rawdoc! { "a": 1.5 }),
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": 0i64 } }, rawdoc! { "a": 1i64 }),
        (
            rawdoc! { "a": 1 },
            rawdoc! { "$inc": { "a": decimal("0.10") } },
            rawdoc! { "a": decimal("1.10") },
        ),
        (rawdoc! { "a": i32::MAX }, rawdoc! { "$inc": { "a": 1 } }, rawdoc! { "a": 2147483648i64 }),
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "$inc": { "a.b": 2 } },
            rawdoc! { "_id": 1, "a": { "b": 2 } },
        ),
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$inc": { "a.1": 2 } }, rawdoc! { "a": [1, 4] }),
        (rawdoc! { "a": f64::NAN }, rawdoc! { "$inc": { "a": 1 } }, rawdoc! { "a": f64::NAN }),
    ]);
    no_changes(vec![
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": 0 } }),
        (rawdoc! { "a": 1.5 }, rawdoc! { "$inc": { "a": 0 } }),
    ]);
    errors(vec![
        (
            rawdoc! { "a": 1 },
            rawdoc! { "$inc": { "a": "1" } },
            14,
            "Cannot increment with non-numeric argument: {a: \"1\"}",
        ),
        (rawdoc! { "a": 1 }, rawdoc! { "$inc": { "a": null } }, 14, "non-numeric"),
        (
            rawdoc! { "_id": 7, "a": "1" },
            rawdoc! { "$inc": { "a": 1 } },
            14,
            "{_id: 7} has the field 'a' of non-numeric type string",
        ),
        (rawdoc! { "a": null }, rawdoc! { "$inc": { "a": 1 } }, 14, "type null"),
        (
            rawdoc! { "a": i64::MAX },
            rawdoc! { "$inc": { "a": 1 } },
            2,
            "(NumberLong)9223372036854775807",
        ),
        (rawdoc! { "_id": 1 }, rawdoc! { "$inc": { "_id": 1 } }, 66, "_id"),
    ]);
}

#[test]
fn mul() {
    changes(vec![
        (rawdoc! { "a": 3 }, rawdoc! { "$mul": { "a": 2 } }, rawdoc! { "a": 6 }),
        (rawdoc! { "a": 3 }, rawdoc! { "$mul": { "a": 2.5 } }, rawdoc! { "a": 7.5 }),
        (rawdoc! { "a": i32::MAX }, rawdoc! { "$mul": { "a": 2 } }, rawdoc! { "a": 4294967294i64 }),
        // A missing field becomes a zero of the factor's type.
        (rawdoc! {}, rawdoc! { "$mul": { "a": 5 } }, rawdoc! { "a": 0 }),
        (rawdoc! {}, rawdoc! { "$mul": { "a": 5i64 } }, rawdoc! { "a": 0i64 }),
        (rawdoc! {}, rawdoc! { "$mul": { "a": 5.0 } }, rawdoc! { "a": 0.0 }),
    ]);
    no_changes(vec![(rawdoc! { "a": 3 }, rawdoc! { "$mul": { "a": 1 } })]);
    errors(vec![
        (rawdoc! { "a": 1 }, rawdoc! { "$mul": { "a": [] } }, 14, "Cannot multiply"),
        (rawdoc! { "a": true }, rawdoc! { "$mul": { "a": 1 } }, 14, "$mul"),
        (rawdoc! { "a": i64::MAX }, rawdoc! { "$mul": { "a": 2 } }, 2, "$mul"),
    ]);
}

#[test]
fn min_and_max() {
    changes(vec![
        (rawdoc! { "a": 5 }, rawdoc! { "$min": { "a": 3.5 } }, rawdoc! { "a": 3.5 }),
        (rawdoc! { "a": 5 }, rawdoc! { "$max": { "a": 7 } }, rawdoc! { "a": 7 }),
        (rawdoc! {}, rawdoc! { "$max": { "a.b": 7 } }, rawdoc! { "a": { "b": 7 } }),
        // Across types the order of BSON decides.
        (rawdoc! { "a": 5 }, rawdoc! { "$max": { "a": "0" } }, rawdoc! { "a": "0" }),
        (rawdoc! { "a": 5 }, rawdoc! { "$min": { "a": null } }, rawdoc! { "a": null }),
    ]);
    no_changes(vec![
        (rawdoc! { "a": 5 }, rawdoc! { "$min": { "a": 7 } }),
        (rawdoc! { "a": 5 }, rawdoc! { "$max": { "a": 3 } }),
        (rawdoc! { "a": 5 }, rawdoc! { "$max": { "a": 5.0 } }),
    ]);
}

#[test]
fn bit() {
    changes(vec![
        (rawdoc! { "a": 13 }, rawdoc! { "$bit": { "a": { "and": 10 } } }, rawdoc! { "a": 8 }),
        (rawdoc! { "a": 3 }, rawdoc! { "$bit": { "a": { "or": 5 } } }, rawdoc! { "a": 7 }),
        (rawdoc! { "a": 1 }, rawdoc! { "$bit": { "a": { "xor": 5i64 } } }, rawdoc! { "a": 4i64 }),
        (rawdoc! {}, rawdoc! { "$bit": { "a": { "or": 5, "and": 4 } } }, rawdoc! { "a": 4 }),
        (rawdoc! {}, rawdoc! { "$bit": { "a": { "or": 5i64 } } }, rawdoc! { "a": 5i64 }),
    ]);
    no_changes(vec![(rawdoc! { "a": 7 }, rawdoc! { "$bit": { "a": { "or": 3 } } })]);
    errors(vec![
        (rawdoc! { "a": 1.0 }, rawdoc! { "$bit": { "a": { "or": 1 } } }, 2, "non-integral type"),
        (rawdoc! {}, rawdoc! { "$bit": { "a": 1 } }, 2, "not compatible with a int"),
        (rawdoc! {}, rawdoc! { "$bit": { "a": {} } }, 2, "at least one"),
        (rawdoc! {}, rawdoc! { "$bit": { "a": { "nor": 1 } } }, 2, "'nor'"),
        (rawdoc! {}, rawdoc! { "$bit": { "a": { "or": 1.0 } } }, 2, "'double' is not supported"),
    ]);
}

#[test]
fn current_date() {
    let after = super::apply(
        &rawdoc! { "a": 1 },
        &rawdoc! { "$currentDate": { "a": true, "b": { "$type": "timestamp" }, "c.d": { "$type": "date" } } },
    );
    let after = after.unwrap().unwrap();
    assert!(after.get_datetime("a").is_ok());
    assert!(after.get_timestamp("b").is_ok());
    assert!(after.get_document("c").unwrap().get_datetime("d").is_ok());
    errors(vec![
        (rawdoc! {}, rawdoc! { "$currentDate": { "a": 1 } }, 2, "int is not valid type"),
        (rawdoc! {}, rawdoc! { "$currentDate": { "a": {} } }, 2, "'date' or 'timestamp'"),
        (
            rawdoc! {},
            rawdoc! { "$currentDate": { "a": { "$type": "time" } } },
            2,
            "'date' or 'timestamp'",
        ),
        (rawdoc! {}, rawdoc! { "$currentDate": { "a": { "type": "date" } } }, 2, "Unrecognized"),
    ]);
}

#[test]
fn rename() {
    changes(vec![
        (
            rawdoc! { "a": 1, "b": 2 },
            rawdoc! { "$rename": { "a": "c" } },
            rawdoc! { "b": 2, "c": 1 },
        ),
        // What is there already keeps its place.
        (
            rawdoc! { "b": 2, "x": 3, "a": 1 },
            rawdoc! { "$rename": { "a": "b" } },
            rawdoc! { "b": 1, "x": 3 },
        ),
        (rawdoc! { "b": 1, "a": 1 }, rawdoc! { "$rename": { "a": "b" } }, rawdoc! { "b": 1 }),
        (
            rawdoc! { "a": { "b": [1], "c": 2 } },
            rawdoc! { "$rename": { "a.b": "d.e" } },
            rawdoc! { "a": { "c": 2 }, "d": { "e": [1] } },
        ),
    ]);
    no_changes(vec![
        (rawdoc! { "b": 2 }, rawdoc! { "$rename": { "a": "b" } }),
        (rawdoc! { "b": 2 }, rawdoc! { "$rename": { "a.c": "b.d" } }),
    ]);
    errors(vec![
        (rawdoc! {}, rawdoc! { "$rename": { "a": 1 } }, 2, "must be a string"),
        (rawdoc! {}, rawdoc! { "$rename": { "a": "a" } }, 2, "must differ"),
        (rawdoc! {}, rawdoc! { "$rename": { "a": "a.b" } }, 2, "same path"),
        (rawdoc! {}, rawdoc! { "$rename": { "a.b": "a" } }, 2, "same path"),
        (rawdoc! {}, rawdoc! { "$rename": { "a.$": "b" } }, 2, "may not be dynamic"),
        (rawdoc! {}, rawdoc! { "$rename": { "a": "b.$[]" } }, 2, "may not be dynamic"),
        (rawdoc! {}, rawdoc! { "$rename": { "a": "" } }, 56, "empty"),
        (rawdoc! {}, rawdoc! { "$rename": { "a": "b", "c": "b" } }, 40, "conflict at 'b'"),
        (
            rawdoc! {},
            rawdoc! { "$rename": { "a": "b" }, "$set": { "a": 1 } },
            40,
            "conflict at 'a'",
        ),
        (
            rawdoc! { "_id": 1, "a": [{ "b": 1 }] },
            rawdoc! { "$rename": { "a.0.b": "c" } },
            2,
            "The source field cannot be an array element, 'a.0.b' in doc with _id: 1 has an array field called 'a'",
        ),
        (
            rawdoc! { "a": 1, "b": [1] },
            rawdoc! { "$rename": { "a": "b.0" } },
            2,
            "The destination field cannot be an array element",
        ),
        (
            rawdoc! { "a": 1, "b": [1] },
            rawdoc! { "$rename": { "a": "b.5" } },
            2,
            "The destination field cannot be an array element",
        ),
        (rawdoc! { "a": 1 }, rawdoc! { "$rename": { "a.b": "c" } }, 28, "a"),
        (rawdoc! { "_id": 1, "a": 2 }, rawdoc! { "$rename": { "a": "_id" } }, 66, "_id"),
        (rawdoc! { "_id": 1 }, rawdoc! { "$rename": { "_id": "a" } }, 66, "_id"),
    ]);
}
