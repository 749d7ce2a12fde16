//! Updates that are pipelines.

use super::super::Update;
use super::refused;
use crate::query::Matched;
use crate::testing::rawarray;
use crate::{Context, Needs};
use bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf, rawdoc};
use error::Result;
use value::Path;

fn run(
    before: RawDocumentBuf,
    stages: &RawArrayBuf,
    context: &Context,
) -> Result<Option<RawDocumentBuf>> {
    let update = Update::parse(RawBsonRef::Array(stages), None, context)?;
    assert!(update.is_pipeline());
    update.apply(&before, Matched::default())
}

#[test]
fn stages_follow_each_other() {
    let cases = vec![
        (
            rawdoc! { "_id": 1, "a": 2, "b": 3 },
            rawarray![{ "$set": { "s": { "$add": ["$a", "$b"] } } }, { "$unset": ["a", "b"] }],
            Some(rawdoc! { "_id": 1, "s": 5 }),
        ),
        (
            rawdoc! { "_id": 1, "a": 2, "b": 3 },
            rawarray![{ "$project": { "a": 1 } }],
            Some(rawdoc! { "_id": 1, "a": 2 }),
        ),
        // The `_id` cannot be taken away.
        (
            rawdoc! { "_id": 1, "a": { "x": 1 } },
            rawarray![{ "$replaceWith": "$a" }],
            Some(rawdoc! { "_id": 1, "x": 1 }),
        ),
        (
            rawdoc! { "_id": 1, "a": { "x": 1 } },
            rawarray![{ "$replaceRoot": { "newRoot": "$a" } }, { "$addFields": { "y": 2 } }],
            Some(rawdoc! { "_id": 1, "x": 1, "y": 2 }),
        ),
        (
            rawdoc! { "_id": 1, "a": 2 },
            rawarray![{ "$unset": "_id" }],
            Some(rawdoc! { "_id": 1, "a": 2 }),
        ),
        (rawdoc! { "_id": 1, "a": 2 }, rawarray![{ "$set": { "a": 2 } }], None),
        (rawdoc! { "_id": 1, "a": 2 }, rawarray![], None),
    ];
    for (before, stages, expected) in cases {
        let after = run(before, &stages, &Context::new()).unwrap();
        assert_eq!(after, expected, "{stages:?}");
    }
}

#[test]
fn constants_are_variables() {
    let mut context = Context::new();
    context.variables.set("c", Some(7.into()));
    let after = run(rawdoc! { "_id": 1 }, &rawarray![{ "$set": { "a": "$$c" } }], &context);
    assert_eq!(after.unwrap(), Some(rawdoc! { "_id": 1, "a": 7 }));
}

#[test]
fn misuse() {
    let cases = vec![
        (rawarray![{ "$match": {} }], 72),
        (rawarray![{ "$foo": {} }], 40324),
        (rawarray![5], 14),
        (rawarray![{}], 40323),
        (rawarray![{ "$set": {}, "$unset": "a" }], 40323),
        (rawarray![{ "$set": 5 }], 40272),
        (rawarray![{ "$unset": [] }], 31119),
        (rawarray![{ "$unset": 5 }], 31002),
        (rawarray![{ "$unset": [5] }], 31120),
        (rawarray![{ "$project": {} }], 51272),
        (rawarray![{ "$project": 5 }], 15969),
        (rawarray![{ "$replaceRoot": {} }], 40414),
        (rawarray![{ "$replaceRoot": 5 }], 40229),
        (rawarray![{ "$replaceRoot": { "newRoot": "$a", "x": 1 } }], 40415),
    ];
    for (stages, code) in cases {
        assert_eq!(refused(RawBsonRef::Array(&stages), None), code, "{stages:?}");
    }
    let failing = vec![
        (rawarray![{ "$replaceWith": "$a" }], 40228),
        (rawarray![{ "$set": { "_id": 2 } }], 66),
    ];
    for (stages, code) in failing {
        let error = run(rawdoc! { "_id": 1, "a": 5 }, &stages, &Context::new()).unwrap_err();
        assert_eq!(error.code().number(), code, "{stages:?}");
    }
}

#[test]
fn needs_are_what_expressions_look_at() {
    let stages = rawarray![{ "$set": { "a": "$b", "c.d": 1 } }, { "$unset": ["e", "f.g"] }];
    let update = Update::parse(RawBsonRef::Array(&stages), None, &Context::new()).unwrap();
    let mut needs = Needs::none();
    update.needs(&mut needs);
    let expected = ["_id", "b", "c.d", "f"].map(Path::new);
    assert_eq!(needs, Needs::Paths(expected.to_vec()));
}
