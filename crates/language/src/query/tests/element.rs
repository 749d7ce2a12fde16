//! What a value is: its presence, type, size, bits, remainder.

use super::*;

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
