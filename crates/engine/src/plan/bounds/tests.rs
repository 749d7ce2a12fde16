//! Filters and the bounds they give.

use super::*;
use crate::catalog::Index;
use crate::index::keys;
use crate::storage::IndexId;
use bson::{RawDocumentBuf, rawdoc};
use language::Context;
use language::query::Filter;
use value::key::Direction;

/// The bounds of each field, a `!` behind them if they are not exact for the whole
/// filter; `-` if the index is of no use. `document` decides what has met arrays.
fn bounds(index: &RawDocumentBuf, document: &RawDocumentBuf, filter: &RawDocumentBuf) -> String {
    let index = Index::from_spec(IndexId(1), index, true).expect("an index");
    let arrays = keys(&index, document).expect("keys").arrays;
    index.multikey.set(&arrays);
    let bits = index.multikey.bits();
    let filter = Filter::parse(filter, &Context::new()).expect("a filter");
    let conjuncts = conjuncts(&filter.root, &NodePlace::default());
    let leaves = Leaves::of(&conjuncts).leaves;
    let Some(assignment) = assign(&index, bits, true, &leaves) else { return "-".into() };
    let fields: Vec<String> = assignment
        .bounds
        .iter()
        .map(|intervals| text::intervals(intervals, false).join(" "))
        .collect();
    let exact = (0..conjuncts.len())
        .all(|conjunct| assignment.tightness.get(&conjunct) == Some(&Tightness::Exact));
    format!("{}{}", fields.join("; "), if exact { "" } else { " !" })
}

#[test]
fn one_field_without_arrays() {
    let index = rawdoc! { "key": { "a": 1 } };
    let table = [
        (rawdoc! { "a": 5 }, "[5, 5]"),
        (rawdoc! { "a": { "$gt": 5 } }, "(5, inf.0]"),
        (rawdoc! { "a": { "$lte": 5 } }, "[-inf.0, 5]"),
        (rawdoc! { "a": { "$gt": 1, "$lt": 5 } }, "(1, 5)"),
        (rawdoc! { "a": { "$gte": "m" } }, "[\"m\", {})"),
        (rawdoc! { "a": { "$lt": "m" } }, "[\"\", \"m\")"),
        (rawdoc! { "a": { "$gt": false } }, "(false, true]"),
        (rawdoc! { "a": { "$lt": { "x": 1 } } }, "[{}, { x: 1 })"),
        (rawdoc! { "a": { "$in": [3, 1, "x"] } }, "[1, 1] [3, 3] [\"x\", \"x\"]"),
        (rawdoc! { "a": { "$in": [1, 2], "$gt": 1 } }, "[2, 2]"),
        (rawdoc! { "a": null }, "[null, null]"),
        (rawdoc! { "a": { "$exists": true } }, "[MinKey, MaxKey] !"),
        (rawdoc! { "a": { "$exists": false } }, "[null, null] !"),
        (rawdoc! { "a": { "$ne": 5 } }, "[MinKey, 5) (5, MaxKey]"),
        (rawdoc! { "a": { "$ne": null } }, "[MinKey, null) (null, MaxKey]"),
        (rawdoc! { "a": { "$nin": [1, 2] } }, "[MinKey, 1) (1, 2) (2, MaxKey]"),
        (rawdoc! { "a": { "$not": { "$gt": 5 } } }, "[MinKey, 5] (inf.0, MaxKey]"),
        (rawdoc! { "a": { "$regex": "^ab" } }, "[\"ab\", \"ac\") [/^ab/, /^ab/]"),
        (rawdoc! { "a": { "$regex": "^ab.c" } }, "[\"ab\", \"ac\") [/^ab.c/, /^ab.c/] !"),
        (rawdoc! { "a": { "$regex": "b" } }, "[\"\", {}) [/b/, /b/] !"),
        (rawdoc! { "a": [1, 2] }, "[1, 1] [[ 1, 2 ], [ 1, 2 ]] !"),
        (rawdoc! { "a": { "$type": "string" } }, "[\"\", {}) !"),
        (rawdoc! { "a": { "$gt": bson::RawBson::MinKey } }, "(MinKey, MaxKey] !"),
        (rawdoc! { "a": { "$gt": 5, "$lt": 3 } }, ""),
        (rawdoc! { "a": { "$mod": [2, 0] } }, "-"),
        (rawdoc! { "b": 1 }, "-"),
    ];
    for (filter, expected) in table {
        assert_eq!(bounds(&index, &rawdoc! {}, &filter), expected, "{filter:?}");
    }
}

#[test]
fn one_field_with_arrays() {
    let index = rawdoc! { "key": { "a": 1 } };
    let document = rawdoc! { "a": [1] };
    let table = [
        (rawdoc! { "a": 5 }, "[5, 5]"),
        (rawdoc! { "a": { "$gt": 1, "$lt": 5 } }, "(1, inf.0] !"),
        (rawdoc! { "a": { "$elemMatch": { "$gt": 1, "$lt": 5 } } }, "(1, 5) !"),
        (rawdoc! { "a": null }, "[null, null] !"),
        (rawdoc! { "a": { "$ne": 5 } }, "[MinKey, 5) (5, MaxKey] !"),
        (rawdoc! { "a": { "$ne": null } }, "-"),
        (rawdoc! { "a": { "$all": [1, 2] } }, "[1, 1] !"),
    ];
    for (filter, expected) in table {
        assert_eq!(bounds(&index, &document, &filter), expected, "{filter:?}");
    }
}

#[test]
fn two_fields_below_one_array() {
    let index = rawdoc! { "key": { "a.b": 1, "a.c": 1 } };
    let array = rawdoc! { "a": [{ "b": 1, "c": 1 }] };
    let tied = rawdoc! { "a": { "$elemMatch": { "b": 1, "c": { "$gt": 2, "$lt": 4 } } } };
    let loose = rawdoc! { "a.b": 1, "a.c": { "$gt": 2 } };
    assert_eq!(bounds(&index, &array, &tied), "[1, 1]; (2, 4) !");
    assert_eq!(bounds(&index, &array, &loose), "[1, 1]; [MinKey, MaxKey] !");
    assert_eq!(bounds(&index, &rawdoc! {}, &loose), "[1, 1]; (2, inf.0]");
    // The array lies below where the paths part.
    let below = rawdoc! { "a": { "b": [1, 2], "c": 1 } };
    assert_eq!(bounds(&index, &below, &loose), "[1, 1]; (2, inf.0]");
}

#[test]
fn other_kinds_of_index() {
    let wildcard = rawdoc! { "key": { "$**": 1 } };
    let filter = rawdoc! { "x.y": { "$gt": 3, "$lt": 9 } };
    assert_eq!(bounds(&wildcard, &rawdoc! {}, &filter), "[\"x.y\", \"x.y\"]; (3, 9)");
    assert_eq!(bounds(&wildcard, &rawdoc! {}, &rawdoc! { "x": { "y": 1 } }), "-");
    let beside = rawdoc! { "key": { "x": 1, "a.$**": 1 } };
    let table = [
        (rawdoc! { "x": 1 }, "[1, 1]; [MinKey, MaxKey]; [MinKey, MaxKey]"),
        (rawdoc! { "x": 1, "a.b": 2 }, "[1, 1]; [\"a.b\", \"a.b\"]; [2, 2]"),
        (rawdoc! { "a.b": 2 }, "-"),
    ];
    for (filter, expected) in table {
        assert_eq!(bounds(&beside, &rawdoc! {}, &filter), expected, "{filter:?}");
    }
    let positional = rawdoc! { "key": { "a.0": 1 } };
    assert_eq!(bounds(&positional, &rawdoc! {}, &rawdoc! { "a.0": 5 }), "[5, 5] !");
    assert_eq!(bounds(&positional, &rawdoc! {}, &rawdoc! { "a.0": null }), "-");
    let hashed = rawdoc! { "key": { "a": "hashed" } };
    assert_eq!(bounds(&hashed, &rawdoc! {}, &rawdoc! { "a": { "$lt": 5 } }), "-");
}

#[test]
fn the_least_bytes_above_a_prefix() {
    assert_eq!(successor(&[1, 2]), Some(vec![1, 3]));
    assert_eq!(successor(&[1, 0xFF, 0xFF]), Some(vec![2]));
    assert_eq!(successor(&[0xFF]), None);
    assert_eq!(successor(&[]), None);
}

#[test]
fn lists_are_enumerated_and_what_follows_is_checked() {
    let point = |n: i32| Intervals::point(bson::RawBson::Int32(n), None);
    let list = point(1).union(point(2));
    let (ranges, checker) = ranges(
        &[list.clone(), list.clone(), Intervals::all()],
        &[Direction::Ascending, Direction::Descending, Direction::Ascending],
    );
    assert_eq!(ranges.len(), 4);
    assert!(checker.is_none());
    assert!(ranges.is_sorted_by(|a, b| a.low < b.low && a.high.as_ref() <= Some(&b.low)));
    let (ranges, checker) =
        self::ranges(&[Intervals::all(), list], &[Direction::Ascending, Direction::Ascending]);
    assert_eq!(ranges, [KeyRange { low: vec![], high: None }]);
    assert!(checker.is_some());
}
