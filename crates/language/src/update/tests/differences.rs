//! What change streams are told of updates.

use super::*;
use crate::update::{Difference, difference};
use bson::RawBson;

fn told(before: &RawDocument, update: RawBsonRef<'_>) -> Option<Difference> {
    let update = Update::parse(update, None, &Context::new()).expect("an update");
    let matched = Matched { element: Some(1) };
    let after = update.apply(before, matched).expect("applies").expect("changes something");
    difference(before, &after, &update.manner())
}

/// Each update of its document is told as `{updated, removed, truncated}`.
fn tells(cases: Vec<(RawDocumentBuf, RawBson, RawDocumentBuf)>) {
    for (before, update, expected) in cases {
        let told = told(&before, update.as_raw_bson_ref())
            .unwrap_or_else(|| panic!("{update:?} is told as a replacement"));
        let shown = rawdoc! {
            "updated": told.updated, "removed": told.removed, "truncated": told.truncated,
        };
        assert_eq!(shown, expected, "{before:?} {update:?}");
    }
}

fn change(updated: RawDocumentBuf, removed: &[&str]) -> RawDocumentBuf {
    let mut names = RawArrayBuf::new();
    removed.iter().for_each(|name| names.push(*name));
    rawdoc! { "updated": updated, "removed": names, "truncated": [] }
}

#[test]
fn operators_are_told_at_the_paths_they_name() {
    let before = rawdoc! { "_id": 1, "a": { "b": 1, "c": 2 }, "l": [1, { "x": 1 }], "z": 0 };
    let case = |update: RawDocumentBuf, expected: RawDocumentBuf| {
        (before.clone(), RawBson::Document(update), expected)
    };
    tells(vec![
        case(rawdoc! { "$set": { "a": { "b": 2 } } }, change(rawdoc! { "a": { "b": 2 } }, &[])),
        case(rawdoc! { "$set": { "a.b": 2 } }, change(rawdoc! { "a.b": 2 }, &[])),
        case(rawdoc! { "$unset": { "a.b": 1, "z": 1 } }, change(rawdoc! {}, &["z", "a.b"])),
        case(
            rawdoc! { "$set": { "y": 1, "b": 2, "z": 5, "a.d": 3 } },
            change(rawdoc! { "z": 5, "b": 2, "y": 1, "a.d": 3 }, &[]),
        ),
        case(rawdoc! { "$set": { "n.m": 1 } }, change(rawdoc! { "n": { "m": 1 } }, &[])),
        case(rawdoc! { "$rename": { "z": "q" } }, change(rawdoc! { "q": 0 }, &["z"])),
        case(rawdoc! { "$set": { "l.1.x": 7 } }, change(rawdoc! { "l.1.x": 7 }, &[])),
        case(rawdoc! { "$set": { "l.$": 9 } }, change(rawdoc! { "l.1": 9 }, &[])),
        case(rawdoc! { "$set": { "l.1": { "x": 2 } } }, change(rawdoc! { "l.1": { "x": 2 } }, &[])),
    ]);
}

#[test]
fn an_array_is_told_whole_unless_it_is_only_appended_to() {
    let before = rawdoc! { "_id": 1, "l": [3, 1] };
    let case = |update: RawDocumentBuf, updated: RawDocumentBuf| {
        (before.clone(), RawBson::Document(update), change(updated, &[]))
    };
    let each = rawdoc! { "$each": [0], "$sort": 1 };
    tells(vec![
        case(rawdoc! { "$push": { "l": 5 } }, rawdoc! { "l.2": 5 }),
        case(rawdoc! { "$push": { "l": { "$each": [5, 6] } } }, rawdoc! { "l.2": 5, "l.3": 6 }),
        case(rawdoc! { "$push": { "l": each } }, rawdoc! { "l": [0, 1, 3] }),
        case(rawdoc! { "$addToSet": { "l": 5 } }, rawdoc! { "l": [3, 1, 5] }),
        case(rawdoc! { "$pull": { "l": 3 } }, rawdoc! { "l": [1] }),
        case(rawdoc! { "$pop": { "l": 1 } }, rawdoc! { "l": [3] }),
        case(rawdoc! { "$push": { "m": 5 } }, rawdoc! { "m": [5] }),
        case(rawdoc! { "$set": { "l.4": 5 } }, rawdoc! { "l.4": 5 }),
    ]);
}

#[test]
fn a_pipeline_is_taken_apart_where_that_is_shorter() {
    let filler = "x".repeat(100);
    let before = rawdoc! { "_id": 1, "filler": filler.as_str(), "a": { "b": 1, "c": filler.as_str() },
    "l": [filler.as_str(), 2, 3] };
    let set = |fields: RawDocumentBuf| {
        let mut stages = RawArrayBuf::new();
        stages.push(rawdoc! { "$set": fields });
        RawBson::Array(stages)
    };
    let shorter = rawdoc! { "l": { "$slice": ["$l", 2] } };
    tells(vec![
        (before.clone(), set(rawdoc! { "a.b": 2 }), change(rawdoc! { "a.b": 2 }, &[])),
        (
            before.clone(),
            set(shorter),
            rawdoc! { "updated": {}, "removed": [], "truncated": [{ "field": "l", "newSize": 2 }] },
        ),
        (
            before.clone(),
            set(rawdoc! { "l": { "$concatArrays": ["$l", [4]] } }),
            change(rawdoc! { "l.3": 4 }, &[]),
        ),
    ]);
    let small = rawdoc! { "_id": 1, "a": 1 };
    assert_eq!(told(&small, set(rawdoc! { "a": 2 }).as_raw_bson_ref()), None);
}

#[test]
fn a_replacement_is_told_as_one() {
    let before = rawdoc! { "_id": 1, "a": 1 };
    let update = rawdoc! { "a": 2 };
    assert_eq!(told(&before, RawBsonRef::Document(&update)), None);
}

#[test]
fn paths_that_could_be_read_in_two_ways_are_spelled_out() {
    let before = rawdoc! { "_id": 1, "l": [1, 2], "a": { "0": 1, "b": 1 } };
    let update = rawdoc! { "$set": { "l.1": 5, "a.0": 2, "a.b": 2 } };
    let told = told(&before, RawBsonRef::Document(&update)).expect("taken apart");
    assert_eq!(told.updated, rawdoc! { "a.0": 2, "a.b": 2, "l.1": 5 });
    assert_eq!(told.ambiguous, rawdoc! { "a.0": ["a", "0"], "l.1": ["l", 1] });
}
