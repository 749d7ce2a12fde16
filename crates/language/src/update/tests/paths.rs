//! Dotted paths, numbers in them, conflicts, and the order of new fields.

use super::{changes, errors};
use bson::rawdoc;

#[test]
fn dotted_paths_create_documents_and_reach_into_arrays() {
    changes(vec![
        (rawdoc! {}, rawdoc! { "$set": { "a.b.c": 1 } }, rawdoc! { "a": { "b": { "c": 1 } } }),
        (rawdoc! {}, rawdoc! { "$set": { "a.0": 1 } }, rawdoc! { "a": { "0": 1 } }),
        (
            rawdoc! { "a": { "x": 1 } },
            rawdoc! { "$set": { "a.b.c": 1 }, "$inc": { "a.b.d": 1, "a.x": 1 } },
            rawdoc! { "a": { "x": 2, "b": { "c": 1, "d": 1 } } },
        ),
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$set": { "a.1": 5 } }, rawdoc! { "a": [1, 5] }),
        (
            rawdoc! { "a": [1] },
            rawdoc! { "$set": { "a.3": 5 } },
            rawdoc! { "a": [1, null, null, 5] },
        ),
        (
            rawdoc! { "a": [] },
            rawdoc! { "$set": { "a.1.b": 5, "a.3": 1 } },
            rawdoc! { "a": [null, { "b": 5 }, null, 1] },
        ),
        (
            rawdoc! { "a": [{ "b": 1 }, { "b": 2 }] },
            rawdoc! { "$set": { "a.1.b": 5, "a.0.c": 6 } },
            rawdoc! { "a": [{ "b": 1, "c": 6 }, { "b": 5 }] },
        ),
    ]);
}

#[test]
fn new_fields_come_in_the_order_of_their_names() {
    changes(vec![
        (
            rawdoc! { "m": 1 },
            rawdoc! { "$set": { "z": 1, "b": 1 }, "$inc": { "a": 1 }, "$push": { "c": 1 } },
            rawdoc! { "m": 1, "a": 1, "b": 1, "c": [1], "z": 1 },
        ),
        (
            rawdoc! {},
            rawdoc! { "$set": { "a.10": 1, "a.9": 1, "a.x": 1, "a.B": 1 } },
            rawdoc! { "a": { "9": 1, "10": 1, "B": 1, "x": 1 } },
        ),
        (
            rawdoc! { "b": 1, "a": 1 },
            rawdoc! { "$set": { "a": 2, "b": 2, "c": 2 } },
            rawdoc! { "b": 2, "a": 2, "c": 2 },
        ),
    ]);
    // More fields than are found by looking at each.
    let (mut set, mut expected) = (bson::RawDocumentBuf::new(), bson::RawDocumentBuf::new());
    for number in (0..100).rev() {
        set.append(bson::raw::CString::try_from(format!("f{number:03}")).unwrap(), number);
    }
    for number in 0..100 {
        expected.append(bson::raw::CString::try_from(format!("f{number:03}")).unwrap(), number);
    }
    changes(vec![
        (rawdoc! {}, rawdoc! { "$set": set.clone() }, expected.clone()),
        (rawdoc! { "f050": "x" }, rawdoc! { "$set": set }, {
            let mut first = rawdoc! { "f050": 50 };
            for element in value::elements(&expected).filter(|element| element.key != "f050") {
                let key = bson::raw::CString::try_from(element.key).unwrap();
                first.append(key, element.value().to_raw_bson());
            }
            first
        }),
    ]);
}

#[test]
fn paths_that_cannot_be_made() {
    errors(vec![
        (
            rawdoc! { "a": 5 },
            rawdoc! { "$set": { "a.b": 1 } },
            28,
            "Cannot create field 'b' in element {a: 5}",
        ),
        (
            rawdoc! { "a": null },
            rawdoc! { "$inc": { "a.b.c": 1 } },
            28,
            "Cannot create field 'b' in element {a: null}",
        ),
        (
            rawdoc! { "a": [1] },
            rawdoc! { "$set": { "a.b": 1 } },
            28,
            "Cannot create field 'b' in element {a: [ 1 ]}",
        ),
        (
            rawdoc! { "a": [1] },
            rawdoc! { "$set": { "a.0.b": 1 } },
            28,
            "Cannot create field 'b' in element {0: 1}",
        ),
        (
            rawdoc! { "a": [] },
            rawdoc! { "$set": { "a.1500001": 1 } },
            34,
            "can't backfill more than 1500000 elements",
        ),
        (rawdoc! { "a": [] }, rawdoc! { "$set": { "a.4294967296": 1 } }, 28, "Cannot create field"),
    ]);
}

#[test]
fn conflicts() {
    let both = "conflict at 'a'";
    errors(vec![
        (rawdoc! {}, rawdoc! { "$set": { "a": 1 }, "$inc": { "a": 1 } }, 40, both),
        (rawdoc! {}, rawdoc! { "$set": { "a": 1, "a.b": 1 } }, 40, both),
        (rawdoc! {}, rawdoc! { "$set": { "a.b": 1, "a": 1 } }, 40, both),
        (
            rawdoc! {},
            rawdoc! { "$set": { "a.b.c": 1 }, "$unset": { "a.b": 1 } },
            40,
            "conflict at 'a.b'",
        ),
        (rawdoc! {}, rawdoc! { "$setOnInsert": { "a": 1 }, "$set": { "a": 1 } }, 40, both),
        (rawdoc! {}, rawdoc! { "$set": { "a.$[]": 1, "a.b": 1 } }, 40, both),
    ]);
}

#[test]
fn names() {
    errors(vec![
        (rawdoc! {}, rawdoc! { "$set": { "": 1 } }, 56, "An empty update path"),
        (rawdoc! {}, rawdoc! { "$set": { "a.": 1 } }, 56, "'a.' contains an empty field name"),
        (rawdoc! {}, rawdoc! { "$set": { ".a": 1 } }, 56, "empty field name"),
        (rawdoc! {}, rawdoc! { "$set": { "a..b": 1 } }, 56, "empty field name"),
        (rawdoc! {}, rawdoc! { "$set": { "$a.b": 1 } }, 52, "$a"),
    ]);
}

#[test]
fn depth() {
    let deep = |levels: usize| {
        let mut value = rawdoc! { "x": 1 };
        for _ in 1..levels {
            value = rawdoc! { "x": value };
        }
        value
    };
    let path = vec!["a"; 100].join(".");
    let set = |levels: usize| {
        let mut field = bson::RawDocumentBuf::new();
        field.append(bson::raw::CString::try_from(path.as_str()).unwrap(), deep(levels));
        rawdoc! { "$set": field }
    };
    assert!(super::apply(&rawdoc! {}, &set(80)).is_ok());
    errors(vec![(rawdoc! {}, set(81), 15, "nesting depth of 180")]);
    let mut long = bson::RawDocumentBuf::new();
    let path = vec!["a"; 100_000].join(".");
    long.append(bson::raw::CString::try_from(path.as_str()).unwrap(), 1);
    errors(vec![(rawdoc! {}, rawdoc! { "$set": long }, 15, "nesting depth of 180")]);
}
