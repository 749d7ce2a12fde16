//! `$`, `$[]` and `$[identifier]`.

use super::super::Update;
use super::{changes, errors};
use crate::Context;
use crate::query::Matched;
use bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf, rawarray, rawdoc};
use error::Result;

fn positional(
    before: RawDocumentBuf,
    update: RawDocumentBuf,
    element: usize,
) -> Result<Option<RawDocumentBuf>> {
    let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new())?;
    assert!(update.needs_match());
    update.apply(&before, Matched { element: Some(element) })
}

fn filtered(
    before: RawDocumentBuf,
    update: RawDocumentBuf,
    filters: RawArrayBuf,
) -> Result<Option<RawDocumentBuf>> {
    let update = Update::parse(RawBsonRef::Document(&update), Some(&filters), &Context::new())?;
    update.apply(&before, Matched::default())
}

#[test]
fn the_element_that_matched() {
    let cases = vec![
        (
            rawdoc! { "a": [1, 2, 3] },
            rawdoc! { "$set": { "a.$": 9 } },
            1,
            rawdoc! { "a": [1, 9, 3] },
        ),
        (
            rawdoc! { "a": [{ "b": 1 }, { "b": 2 }] },
            rawdoc! { "$inc": { "a.$.b": 5 }, "$set": { "a.0.c": 1 } },
            1,
            rawdoc! { "a": [{ "b": 1, "c": 1 }, { "b": 7 }] },
        ),
        (
            rawdoc! { "a": [{ "b": 1 }, { "b": 2 }] },
            rawdoc! { "$inc": { "a.$.b": 5 }, "$set": { "a.1.c": 1 } },
            1,
            rawdoc! { "a": [{ "b": 1 }, { "b": 7, "c": 1 }] },
        ),
        (rawdoc! {}, rawdoc! { "$set": { "a.$": 1 } }, 2, rawdoc! { "a": { "2": 1 } }),
        (
            rawdoc! { "a": [1, 2] },
            rawdoc! { "$unset": { "a.$": 1 } },
            0,
            rawdoc! { "a": [null, 2] },
        ),
    ];
    for (before, update, element, expected) in cases {
        let after = positional(before, update.clone(), element).unwrap();
        assert_eq!(after, Some(expected), "{update:?}");
    }
    let clash = rawdoc! { "$inc": { "a.$.b": 5, "a.1.b": 5 } };
    let error = positional(rawdoc! { "a": [{}, { "b": 1 }] }, clash, 1).unwrap_err();
    assert_eq!(error.code().number(), 40);
}

#[test]
fn every_element() {
    changes(vec![
        (rawdoc! { "a": [1, 2] }, rawdoc! { "$inc": { "a.$[]": 5 } }, rawdoc! { "a": [6, 7] }),
        (
            rawdoc! { "a": [{ "b": [1, 2] }, { "b": [] }] },
            rawdoc! { "$mul": { "a.$[].b.$[]": 2 }, "$set": { "a.$[].c": true } },
            rawdoc! { "a": [{ "b": [2, 4], "c": true }, { "b": [], "c": true }] },
        ),
        (
            rawdoc! { "a": [[1], [2]] },
            rawdoc! { "$set": { "a.$[].$[]": 0 } },
            rawdoc! { "a": [[0], [0]] },
        ),
        (
            rawdoc! { "a": [1, 2] },
            rawdoc! { "$unset": { "a.$[]": 1 } },
            rawdoc! { "a": [null, null] },
        ),
    ]);
    super::no_changes(vec![(rawdoc! { "a": [] }, rawdoc! { "$set": { "a.$[].b": 1 } })]);
    errors(vec![
        (
            rawdoc! {},
            rawdoc! { "$set": { "a.$[]": 1 } },
            2,
            "The path 'a' must exist in the document in order to apply array updates.",
        ),
        (rawdoc! {}, rawdoc! { "$set": { "a.b.$[].c": 1 } }, 2, "The path 'a.b' must exist"),
        (
            rawdoc! { "a": 5 },
            rawdoc! { "$set": { "a.$[]": 1 } },
            2,
            "Cannot apply array updates to non-array element a: 5",
        ),
        (rawdoc! { "a": { "b": 1 } }, rawdoc! { "$set": { "a.$[]": 1 } }, 2, "element a: { b: 1 }"),
        (
            rawdoc! { "a": [1] },
            rawdoc! { "$set": { "a.$[].b": 1 } },
            28,
            "Cannot create field 'b' in element {0: 1}",
        ),
        (rawdoc! { "a": 5 }, rawdoc! { "$set": { "a.b.$[]": 1 } }, 2, "The path 'a.b' must exist"),
    ]);
}

#[test]
fn the_elements_that_a_filter_picks() {
    let cases = vec![
        (
            rawdoc! { "a": [90, 101, 102] },
            rawdoc! { "$set": { "a.$[x]": 100 } },
            rawarray![{ "x": { "$gte": 100 } }],
            Some(rawdoc! { "a": [90, 100, 100] }),
        ),
        (
            rawdoc! { "a": [{ "g": 80 }, { "g": 90, "m": 1 }] },
            rawdoc! { "$inc": { "a.$[x].m": 1 } },
            rawarray![{ "x.g": { "$gt": 70 }, "x.m": { "$exists": true } }],
            Some(rawdoc! { "a": [{ "g": 80 }, { "g": 90, "m": 2 }] }),
        ),
        (
            rawdoc! { "a": [{ "q": [4, 8] }, { "t": 1, "q": [8] }] },
            rawdoc! { "$inc": { "a.$[t].q.$[q]": 2 } },
            rawarray![{ "t.t": 1 }, { "q": { "$gte": 8 } }],
            Some(rawdoc! { "a": [{ "q": [4, 8] }, { "t": 1, "q": [10] }] }),
        ),
        (
            rawdoc! { "a": [{ "b": 1 }, { "b": 2 }, { "b": 3 }] },
            rawdoc! { "$set": { "a.$[x].c": 1, "a.$[y].d": 1 } },
            rawarray![{ "x.b": { "$lte": 2 } }, { "y.b": { "$gte": 2 } }],
            Some(
                rawdoc! { "a": [{ "b": 1, "c": 1 }, { "b": 2, "c": 1, "d": 1 }, { "b": 3, "d": 1 }] },
            ),
        ),
        (
            rawdoc! { "a": [1, 2] },
            rawdoc! { "$set": { "a.$[x]": 0 } },
            rawarray![{ "$or": [{ "x": 7 }, { "x": { "$gt": 9 } }] }],
            None,
        ),
    ];
    for (before, update, filters, expected) in cases {
        let after = filtered(before, update.clone(), filters).unwrap();
        assert_eq!(after, expected, "{update:?}");
    }
    let clash = filtered(
        rawdoc! { "a": [1] },
        rawdoc! { "$set": { "a.$[x]": 1, "a.$[]": 2 } },
        rawarray![{ "x": 1 }],
    );
    let error = clash.unwrap_err();
    assert_eq!(
        (error.code().number(), error.message()),
        (40, "Update created a conflict at 'a.0'")
    );
}
