//! Operators on arrays.

use super::{changes, errors, no_changes};
use bson::rawdoc;

#[test]
fn push() {
    changes(vec![
        (rawdoc! { "a": [1] }, rawdoc! { "$push": { "a": 2 } }, rawdoc! { "a": [1, 2] }),
        (rawdoc! { "a": [] }, rawdoc! { "$push": { "a": [1] } }, rawdoc! { "a": [[1]] }),
        (rawdoc! {}, rawdoc! { "$push": { "a.b": 1 } }, rawdoc! { "a": { "b": [1] } }),
        (rawdoc! { "a": [[1]] }, rawdoc! { "$push": { "a.0": 2 } }, rawdoc! { "a": [[1, 2]] }),
        (
            rawdoc! { "a": [1], "b": 5 },
            rawdoc! { "$push": { "a": { "$each": [2, 3, "x"] } } },
            rawdoc! { "a": [1, 2, 3, "x"], "b": 5 },
        ),
        (rawdoc! {}, rawdoc! { "$push": { "a": { "$each": [] } } }, rawdoc! { "a": [] }),
        (
            rawdoc! { "a": [1] },
            rawdoc! { "$push": { "a": { "b": 1 } } },
            rawdoc! { "a": [1, { "b": 1 }] },
        ),
        (
            rawdoc! { "a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] },
            rawdoc! { "$push": { "a": 10 } },
            rawdoc! { "a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
        ),
    ]);
    no_changes(vec![(rawdoc! { "a": [1] }, rawdoc! { "$push": { "a": { "$each": [] } } })]);
    errors(vec![
        (
            rawdoc! { "_id": 1, "a": 5 },
            rawdoc! { "$push": { "a": 1 } },
            2,
            "The field 'a' must be an array but is of type int in document {_id: 1}",
        ),
        (rawdoc! { "a": null }, rawdoc! { "$push": { "a": 1 } }, 2, "type null"),
        (rawdoc! {}, rawdoc! { "$push": { "a": { "$each": 1 } } }, 2, "must be an array"),
        (
            rawdoc! {},
            rawdoc! { "$push": { "a": { "$each": [], "b": 1 } } },
            2,
            "Unrecognized clause in $push: b",
        ),
    ]);
}

#[test]
fn push_position() {
    let push =
        |position: i32| rawdoc! { "$push": { "a": { "$each": [8, 9], "$position": position } } };
    changes(vec![
        (rawdoc! { "a": [1, 2, 3] }, push(0), rawdoc! { "a": [8, 9, 1, 2, 3] }),
        (rawdoc! { "a": [1, 2, 3] }, push(1), rawdoc! { "a": [1, 8, 9, 2, 3] }),
        (rawdoc! { "a": [1, 2, 3] }, push(7), rawdoc! { "a": [1, 2, 3, 8, 9] }),
        (rawdoc! { "a": [1, 2, 3] }, push(-1), rawdoc! { "a": [1, 2, 8, 9, 3] }),
        (rawdoc! { "a": [1, 2, 3] }, push(-7), rawdoc! { "a": [8, 9, 1, 2, 3] }),
        (rawdoc! {}, push(5), rawdoc! { "a": [8, 9] }),
    ]);
    errors(vec![
        (
            rawdoc! {},
            rawdoc! { "$push": { "a": { "$each": [], "$position": "x" } } },
            2,
            "$position must be an integer value, not of type: string",
        ),
        (rawdoc! {}, rawdoc! { "$push": { "a": { "$each": [], "$position": 1.5 } } }, 2, "double"),
    ]);
}

#[test]
fn push_slice() {
    let push = |slice: i32| rawdoc! { "$push": { "a": { "$each": [4, 5], "$slice": slice } } };
    changes(vec![
        (rawdoc! { "a": [1, 2, 3] }, push(4), rawdoc! { "a": [1, 2, 3, 4] }),
        (rawdoc! { "a": [1, 2, 3] }, push(-3), rawdoc! { "a": [3, 4, 5] }),
        (rawdoc! { "a": [1, 2, 3] }, push(0), rawdoc! { "a": [] }),
        (rawdoc! { "a": [1, 2, 3] }, push(100), rawdoc! { "a": [1, 2, 3, 4, 5] }),
        // It was pushed and cut off again: a change that leaves the same array.
        (rawdoc! { "a": [1, 2, 3] }, push(3), rawdoc! { "a": [1, 2, 3] }),
        (rawdoc! {}, push(-1), rawdoc! { "a": [5] }),
    ]);
    no_changes(vec![(
        rawdoc! { "a": [1] },
        rawdoc! { "$push": { "a": { "$each": [], "$slice": 5 } } },
    )]);
    errors(vec![(
        rawdoc! {},
        rawdoc! { "$push": { "a": { "$each": [], "$slice": null } } },
        2,
        "$slice",
    )]);
}

#[test]
fn push_sort() {
    let scores = rawdoc! { "a": [{ "s": 3, "n": 1 }, { "s": 1 }, { "n": 9 }, 7] };
    changes(vec![
        (
            rawdoc! { "a": [3, "x", 1] },
            rawdoc! { "$push": { "a": { "$each": [2], "$sort": 1 } } },
            rawdoc! { "a": [1, 2, 3, "x"] },
        ),
        (
            rawdoc! { "a": [3, 1] },
            rawdoc! { "$push": { "a": { "$each": [2], "$sort": -1, "$slice": 2 } } },
            rawdoc! { "a": [3, 2] },
        ),
        (
            scores.clone(),
            rawdoc! { "$push": { "a": { "$each": [{ "s": 2 }], "$sort": { "s": 1 } } } },
            rawdoc! { "a": [{ "n": 9 }, 7, { "s": 1 }, { "s": 2 }, { "s": 3, "n": 1 }] },
        ),
        (
            rawdoc! { "a": [{ "b": { "c": 1 } }, { "b": { "c": 2 } }] },
            rawdoc! { "$push": { "a": { "$each": [], "$sort": { "b.c": -1 } } } },
            rawdoc! { "a": [{ "b": { "c": 2 } }, { "b": { "c": 1 } }] },
        ),
    ]);
    no_changes(vec![(
        rawdoc! { "a": [1, 2] },
        rawdoc! { "$push": { "a": { "$each": [], "$sort": 1 } } },
    )]);
    let sort = |sort: bson::RawBson| rawdoc! { "$push": { "a": { "$each": [], "$sort": sort } } };
    errors(vec![
        (rawdoc! {}, sort(2.into()), 2, "1 or -1"),
        (rawdoc! {}, sort("x".into()), 2, "$sort is invalid"),
        (rawdoc! {}, sort(rawdoc! {}.into()), 2, "empty"),
        (rawdoc! {}, sort(rawdoc! { "b": 2 }.into()), 2, "1 or -1"),
        (rawdoc! {}, sort(rawdoc! { "b..c": 1 }.into()), 2, "empty part"),
        (rawdoc! {}, sort(rawdoc! { "": 1 }.into()), 2, "cannot be empty"),
    ]);
}

#[test]
fn add_to_set() {
    changes(vec![
        (rawdoc! { "a": [1] }, rawdoc! { "$addToSet": { "a": 2 } }, rawdoc! { "a": [1, 2] }),
        (
            rawdoc! { "a": [1, 3] },
            rawdoc! { "$addToSet": { "a": { "$each": [3, 2, 1.0, 2, 0] } } },
            rawdoc! { "a": [1, 3, 2, 0] },
        ),
        (
            rawdoc! {},
            rawdoc! { "$addToSet": { "a": { "$each": [2, 2, 1] } } },
            rawdoc! { "a": [2, 1] },
        ),
        (rawdoc! {}, rawdoc! { "$addToSet": { "a": { "$each": [] } } }, rawdoc! { "a": [] }),
        // The order of fields matters, and an array is one value.
        (
            rawdoc! { "a": [{ "x": 1, "y": 2 }] },
            rawdoc! { "$addToSet": { "a": { "y": 2, "x": 1 } } },
            rawdoc! { "a": [{ "x": 1, "y": 2 }, { "y": 2, "x": 1 }] },
        ),
        (rawdoc! { "a": [1] }, rawdoc! { "$addToSet": { "a": [1] } }, rawdoc! { "a": [1, [1]] }),
    ]);
    no_changes(vec![
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$addToSet": { "a": 2.0 } }),
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$addToSet": { "a": { "$each": [1, 2] } } }),
        (rawdoc! { "a": [{ "x": 1 }] }, rawdoc! { "$addToSet": { "a": { "x": 1i64 } } }),
    ]);
    errors(vec![
        (
            rawdoc! { "a": "x" },
            rawdoc! { "$addToSet": { "a": 1 } },
            2,
            "Field named 'a' has non-array type string",
        ),
        (rawdoc! {}, rawdoc! { "$addToSet": { "a": { "$each": 1 } } }, 14, "$each"),
        (rawdoc! {}, rawdoc! { "$addToSet": { "a": { "$each": [], "x": 1 } } }, 2, "after $each"),
    ]);
}

#[test]
fn pop() {
    changes(vec![
        (rawdoc! { "a": [1, 2, 3] }, rawdoc! { "$pop": { "a": 1 } }, rawdoc! { "a": [1, 2] }),
        (rawdoc! { "a": [1, 2, 3] }, rawdoc! { "$pop": { "a": -1 } }, rawdoc! { "a": [2, 3] }),
        (rawdoc! { "a": [1] }, rawdoc! { "$pop": { "a": 1.0 } }, rawdoc! { "a": [] }),
        (
            rawdoc! { "a": { "b": [1] } },
            rawdoc! { "$pop": { "a.b": -1 } },
            rawdoc! { "a": { "b": [] } },
        ),
    ]);
    no_changes(vec![
        (rawdoc! { "a": [] }, rawdoc! { "$pop": { "a": 1 } }),
        (rawdoc! { "b": 1 }, rawdoc! { "$pop": { "a": 1 } }),
        (rawdoc! { "a": {} }, rawdoc! { "$pop": { "a.b.c": 1 } }),
        (rawdoc! { "a": [] }, rawdoc! { "$pop": { "a.3": 1 } }),
    ]);
    errors(vec![
        (
            rawdoc! { "a": 5 },
            rawdoc! { "$pop": { "a": 1 } },
            14,
            "Path 'a' contains an element of non-array type 'int'",
        ),
        (
            rawdoc! { "a": "x" },
            rawdoc! { "$pop": { "a.b": 1 } },
            28,
            "Cannot use the part (b) of (a.b) to traverse the element ({a: \"x\"})",
        ),
        (rawdoc! {}, rawdoc! { "$pop": { "a": 2 } }, 9, "$pop expects 1 or -1, found: 2"),
        (rawdoc! {}, rawdoc! { "$pop": { "a": "1" } }, 9, "Expected a number in: a: \"1\""),
        (rawdoc! {}, rawdoc! { "$pop": { "a": 1.5 } }, 9, "Expected an integer"),
    ]);
}

#[test]
fn pull() {
    changes(vec![
        (
            rawdoc! { "a": [1, 2, 1.0, "1"] },
            rawdoc! { "$pull": { "a": 1 } },
            rawdoc! { "a": [2, "1"] },
        ),
        (
            rawdoc! { "a": [1, 5, 9] },
            rawdoc! { "$pull": { "a": { "$gte": 5 } } },
            rawdoc! { "a": [1] },
        ),
        (
            rawdoc! { "a": [1, 5, 9] },
            rawdoc! { "$pull": { "a": { "$in": [1, 9] } } },
            rawdoc! { "a": [5] },
        ),
        (
            rawdoc! { "a": [{ "b": 1, "c": 2 }, { "b": 2 }, 1] },
            rawdoc! { "$pull": { "a": { "b": 1 } } },
            rawdoc! { "a": [{ "b": 2 }, 1] },
        ),
        (
            rawdoc! { "a": [{ "b": [1, 7] }, { "b": [2] }] },
            rawdoc! { "$pull": { "a": { "b": { "$gt": 5 } } } },
            rawdoc! { "a": [{ "b": [2] }] },
        ),
        (
            rawdoc! { "a": [{ "b": 1 }, { "b": 2 }] },
            rawdoc! { "$pull": { "a": { "$or": [{ "b": 1 }] } } },
            rawdoc! { "a": [{ "b": 2 }] },
        ),
        (rawdoc! { "a": [[1], [2]] }, rawdoc! { "$pull": { "a": [1] } }, rawdoc! { "a": [[2]] }),
        (rawdoc! { "a": [null, 1] }, rawdoc! { "$pull": { "a": null } }, rawdoc! { "a": [1] }),
        (
            rawdoc! { "a": ["ab", "b"] },
            rawdoc! { "$pull": { "a": bson::Regex { pattern: bson::raw::cstr!("^a").to_owned(), options: bson::raw::cstr!("").to_owned() } } },
            rawdoc! { "a": ["b"] },
        ),
    ]);
    no_changes(vec![
        (rawdoc! { "a": [1] }, rawdoc! { "$pull": { "a": 2 } }),
        (rawdoc! { "b": 1 }, rawdoc! { "$pull": { "a": 2, "c.d": 1 } }),
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$pull": { "a": { "b": 1 } } }),
    ]);
    errors(vec![
        (
            rawdoc! { "a": 5 },
            rawdoc! { "$pull": { "a": 5 } },
            2,
            "Cannot apply $pull to a non-array value",
        ),
        (rawdoc! { "a": 5 }, rawdoc! { "$pull": { "a.b": 5 } }, 28, "Cannot use the part (b)"),
    ]);
}

#[test]
fn pull_all() {
    changes(vec![(
        rawdoc! { "a": [1, 2, 3, 2, { "x": 1 }] },
        rawdoc! { "$pullAll": { "a": [2.0, { "x": 1 }] } },
        rawdoc! { "a": [1, 3] },
    )]);
    no_changes(vec![
        (rawdoc! { "a": [1] }, rawdoc! { "$pullAll": { "a": [] } }),
        (rawdoc! { "a": [1] }, rawdoc! { "$pullAll": { "a": [2], "b": [1] } }),
    ]);
    errors(vec![
        (
            rawdoc! {},
            rawdoc! { "$pullAll": { "a": 1 } },
            2,
            "$pullAll requires an array argument but was given a int",
        ),
        (rawdoc! { "a": 1 }, rawdoc! { "$pullAll": { "a": [1] } }, 2, "non-array"),
    ]);
}
