//! Whole new documents.

use super::{apply, changes, errors, no_changes};
use bson::{Timestamp, rawdoc};

#[test]
fn the_id_stays_and_comes_first() {
    changes(vec![
        (rawdoc! { "_id": 1, "a": 1 }, rawdoc! { "b": 2 }, rawdoc! { "_id": 1, "b": 2 }),
        (rawdoc! { "_id": 1, "a": 1 }, rawdoc! {}, rawdoc! { "_id": 1 }),
        (rawdoc! { "_id": 1 }, rawdoc! { "b": 2, "_id": 1 }, rawdoc! { "_id": 1, "b": 2 }),
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "a": { "$b": 1 }, "c.d": 1 },
            rawdoc! { "_id": 1, "a": { "$b": 1 }, "c.d": 1 },
        ),
        (
            rawdoc! { "_id": 1 },
            rawdoc! { "a": 1, "$ref": "x", "$id": 1 },
            rawdoc! { "_id": 1, "a": 1, "$ref": "x", "$id": 1 },
        ),
    ]);
    no_changes(vec![(rawdoc! { "_id": 1, "a": 1 }, rawdoc! { "_id": 1, "a": 1 })]);
    errors(vec![
        (rawdoc! { "_id": 1 }, rawdoc! { "_id": 2 }, 66, "altered to _id: 2"),
        (rawdoc! { "_id": 1 }, rawdoc! { "a": 1, "$set": { "b": 1 } }, 52, "'$set'"),
        (rawdoc! { "_id": 1 }, rawdoc! { "a": 1, "$id": 1 }, 55, "$ref"),
    ]);
}

#[test]
fn an_empty_timestamp_becomes_the_time() {
    let empty = Timestamp { time: 0, increment: 0 };
    let after = apply(&rawdoc! { "_id": 1 }, &rawdoc! { "t": empty, "u": { "t": empty } });
    let after = after.unwrap().unwrap();
    assert_ne!(after.get_timestamp("t").unwrap(), empty);
    assert_eq!(after.get_document("u").unwrap().get_timestamp("t").unwrap(), empty);
}
