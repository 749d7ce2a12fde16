//! Operators on arrays, and which element matched.

use super::*;

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
