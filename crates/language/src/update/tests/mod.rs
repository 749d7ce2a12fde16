//! Tables of cases: a document, an update, and what comes of it.

mod array_operators;
mod differences;
mod errors;
mod field_operators;
mod filtered;
mod paths;
mod pipeline;
mod random;
mod replacement;
mod upsert;
mod whole;

use super::Update;
use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::Result;
use value::Path;

/// What an update makes of a document; `None` is a no-op.
fn apply(before: &RawDocument, update: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    let update = Update::parse(RawBsonRef::Document(update), None, &Context::new())?;
    update.apply(before, Matched::default())
}

/// Each update makes of its document what is expected, to the last byte.
fn changes(cases: Vec<(RawDocumentBuf, RawDocumentBuf, RawDocumentBuf)>) {
    for (before, update, expected) in cases {
        let after = apply(&before, &update).unwrap_or_else(|e| panic!("{update:?}: {e}"));
        let after = after.unwrap_or_else(|| panic!("{update:?} changed nothing"));
        assert_eq!(after, expected, "{before:?} {update:?}");
    }
}

/// Each update leaves its document as it is.
fn no_changes(cases: Vec<(RawDocumentBuf, RawDocumentBuf)>) {
    for (before, update) in cases {
        let after = apply(&before, &update).unwrap_or_else(|e| panic!("{update:?}: {e}"));
        assert_eq!(after, None, "{before:?} {update:?}");
    }
}

/// Each update fails with its code, and its message has these words.
fn errors(cases: Vec<(RawDocumentBuf, RawDocumentBuf, i32, &str)>) {
    for (before, update, code, words) in cases {
        match apply(&before, &update) {
            Ok(after) => panic!("{before:?} {update:?} gave {after:?}"),
            Err(error) => {
                assert_eq!(error.code().number(), code, "{update:?}: {error}");
                assert!(error.message().contains(words), "{update:?}: {error}");
            }
        }
    }
}

/// The code of the error that an update is refused with when parsed.
fn refused(update: RawBsonRef<'_>, filters: Option<RawArrayBuf>) -> i32 {
    match Update::parse(update, filters.as_deref(), &Context::new()) {
        Ok(update) => panic!("{update:?} was parsed"),
        Err(error) => error.code().number(),
    }
}

fn filter(filter: RawDocumentBuf) -> Filter {
    Filter::parse(&filter, &Context::new()).unwrap()
}

#[test]
fn needs_are_the_paths_that_are_read() {
    let large = "x".repeat(10_000);
    let cases = vec![
        (rawdoc! { "$set": { "a": 1, "b.c": 2, "_id": 3 } }, vec!["b.c", "_id"]),
        (rawdoc! { "$set": { "a": large } }, vec!["a"]),
        (rawdoc! { "$unset": { "a": 1, "b.c": 1 } }, vec!["b.c"]),
        (
            rawdoc! { "$inc": { "a": 1 }, "$push": { "b.$.c": 1, "d.$[].e": 1 } },
            vec!["a", "b", "d"],
        ),
        (rawdoc! { "$rename": { "a": "b.c" } }, vec!["a", "b.c"]),
        (rawdoc! { "$setOnInsert": { "a": 1 } }, vec![]),
        (rawdoc! { "a": 1 }, vec!["_id"]),
    ];
    for (update, expected) in cases {
        let parsed = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        let mut needs = Needs::none();
        parsed.needs(&mut needs);
        let expected = expected.into_iter().map(Path::new).collect();
        assert_eq!(needs, Needs::Paths(expected), "{update:?}");
    }
}
