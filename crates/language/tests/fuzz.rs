//! The fuzz targets of this crate, on random bytes; and what is too much: deep, long, and
//! patterns that never end.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

// The targets call the crates by their short names.
extern crate freeboard_language as language;

#[path = "../../../fuzz/src/input.rs"]
mod input;
#[path = "../../../fuzz/src/pipeline_parse.rs"]
mod pipeline_parse;
#[path = "../../../fuzz/src/query_match.rs"]
mod query_match;
#[path = "../../../fuzz/src/update_apply.rs"]
mod update_apply;

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc};
use language::Context;
use language::query::{Filter, Matched};
use language::update::Update;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn query_match(data in prop::collection::vec(any::<u8>(), 0..400)) {
        query_match::run(&data);
    }

    #[test]
    fn update_apply(data in prop::collection::vec(any::<u8>(), 0..400)) {
        update_apply::run(&data);
    }

    #[test]
    fn pipeline_parse(data in prop::collection::vec(any::<u8>(), 0..400)) {
        pipeline_parse::run(&data);
    }
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

/// As deep as a client can send.
const LEVELS: usize = 195;

fn nested(mut inner: Document, levels: usize, wrap: fn(Document) -> Document) -> Document {
    for _ in 0..levels {
        inner = wrap(inner);
    }
    inner
}

#[test]
fn depth_is_matched_or_refused() {
    let field = || doc! { "a": 1 };
    let documents = [
        nested(field(), LEVELS, |inner| doc! { "a": inner }),
        nested(field(), LEVELS / 2, |inner| doc! { "a": [inner] }),
    ];
    let filters = [
        nested(field(), LEVELS / 2, |inner| doc! { "$and": [inner] }),
        nested(field(), LEVELS / 2, |inner| doc! { "$nor": [inner] }),
        nested(field(), LEVELS / 2, |inner| doc! { "a": { "$elemMatch": inner } }),
        doc! { "a": nested(doc! { "$gt": 1 }, LEVELS, |inner| doc! { "$not": inner }) },
        doc! { "a": nested(doc! { "$gt": 1 }, LEVELS, |inner| doc! { "$elemMatch": inner }) },
    ];
    for filter in &filters {
        let Ok(filter) = Filter::parse(&raw(filter), &Context::new()) else { continue };
        for document in &documents {
            filter.matches(&raw(document)).unwrap();
        }
    }
}

#[test]
fn length_does_not_multiply() {
    let items: Vec<i32> = (0..100_000).collect();
    let document = raw(&doc! { "a": items.clone() });
    for filter in [
        doc! { "a": { "$in": items.clone() } },
        doc! { "a": { "$nin": (-100_000..0).collect::<Vec<i32>>() } },
        doc! { "a": { "$all": [99_999, 0] } },
        doc! { "a": { "$elemMatch": { "$gt": 99_998, "$lt": 100_000 } } },
    ] {
        let filter = Filter::parse(&raw(&filter), &Context::new()).unwrap();
        assert!(filter.matches(&document).unwrap());
    }
    for update in [
        doc! { "$addToSet": { "a": { "$each": items.clone() } } },
        doc! { "$pullAll": { "a": items.clone() } },
        doc! { "$push": { "a": { "$each": items.clone(), "$sort": -1, "$slice": 5 } } },
        doc! { "$inc": { "a.$[]": 1 } },
    ] {
        let update = raw(&update);
        let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        update.apply(&document, Matched::default()).unwrap();
    }
}

#[test]
fn patterns_that_never_end_are_given_up() {
    let document = raw(&doc! { "a": format!("{}b", "a".repeat(200)) });
    for pattern in ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        let filter = raw(&doc! { "a": { "$regex": pattern } });
        let filter = Filter::parse(&filter, &Context::new()).unwrap();
        assert!(filter.matches(&document).is_err(), "{pattern}");
    }
}

#[test]
fn an_update_cannot_ask_for_more_than_a_document_may_have() {
    let document = raw(&doc! { "a": Bson::Array(Vec::new()) });
    for path in ["a.1499999", "a.2000000", "a.4294967295", "a.99999999999999999999"] {
        let update = raw(&doc! { "$set": { path: 1 } });
        let update = Update::parse(RawBsonRef::Document(&update), None, &Context::new()).unwrap();
        if let Ok(Some(after)) = update.apply(&document, Matched::default()) {
            assert!(after.as_bytes().len() < 64 * 1024 * 1024, "{path}");
        }
    }
}
