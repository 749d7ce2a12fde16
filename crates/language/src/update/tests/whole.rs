//! What holds for every update: untouched bytes stay what they are, and cost
//! does not grow with what is not touched.

use super::{Update, apply};
use crate::Context;
use crate::query::Matched;
use bson::spec::BinarySubtype;
use bson::{Binary, RawBsonRef, rawdoc};
use std::time::Instant;

#[test]
fn untouched_fields_are_copied_as_bytes() {
    let stub = Binary { subtype: BinarySubtype::UserDefined(0xf0), bytes: vec![1, 2, 3] };
    let before =
        rawdoc! { "_id": 1, "s": stub.clone(), "n": 1, "d": { "s": stub.clone(), "m": 1 } };
    let after = apply(&before, &rawdoc! { "$inc": { "n": 1, "d.m": 1 }, "$set": { "z": 1 } });
    assert_eq!(
        after.unwrap().unwrap(),
        rawdoc! { "_id": 1, "s": stub.clone(), "n": 2, "d": { "s": stub, "m": 2 }, "z": 1 }
    );
}

#[test]
fn array_keys_that_are_not_numbers_survive() {
    // Keys inside an array mean nothing and are kept as they were stored.
    let odd = rawdoc! { "x": 1, "y": 2 };
    let mut bytes = rawdoc! { "a": odd }.into_bytes();
    bytes[4] = 4;
    let before = bson::RawDocumentBuf::from_bytes(bytes).unwrap();
    let after = apply(&before, &rawdoc! { "$set": { "a.1": 5 } }).unwrap().unwrap();
    let mut expected = rawdoc! { "a": { "x": 1, "y": 5 } }.into_bytes();
    expected[4] = 4;
    assert_eq!(after.as_bytes(), &expected[..]);
}

#[test]
fn large_siblings_are_not_walked_into() {
    let mut large = bson::RawArrayBuf::new();
    (0..200_000).for_each(|number| large.push(number));
    let before = rawdoc! { "_id": 1, "large": large, "n": 1 };
    let update = rawdoc! { "$inc": { "n": 1 } };
    let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
    let started = Instant::now();
    for _ in 0..50 {
        assert!(update.apply(&before, Matched::default()).unwrap().is_some());
    }
    // A walk over ten million elements would take far longer than fifty copies.
    assert!(started.elapsed().as_millis() < 2_000, "{:?}", started.elapsed());
}

#[test]
fn updates_that_would_make_huge_documents_are_refused() {
    let mut items = bson::RawArrayBuf::new();
    (0..100_000).for_each(|number| items.push(number));
    let update = rawdoc! { "$set": { "a.$[]": "x".repeat(10_000) } };
    let error = apply(&rawdoc! { "a": items }, &update).unwrap_err();
    assert_eq!(error.code().number(), 17419);
}
