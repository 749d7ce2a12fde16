//! Tables of cases: a document, a specification, and what comes of it.

use super::Projection;
use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf, rawarray, rawdoc};
use error::Result;
use value::Path;

fn find(document: &RawDocument, spec: &RawDocument) -> Result<RawDocumentBuf> {
    Projection::parse(spec, None, &Context::new())?.apply(document, Matched::default())
}

fn stage(document: &RawDocument, spec: &RawDocument) -> Result<RawDocumentBuf> {
    Projection::parse_stage(spec, &Context::new())?.apply(document, Matched::default())
}

fn add_fields(document: &RawDocument, spec: &RawDocument) -> Result<RawDocumentBuf> {
    let spec = bson::RawBsonRef::Document(spec);
    Projection::parse_add_fields(spec, "$addFields", &Context::new())?
        .apply(document, Matched::default())
}

type Apply = fn(&RawDocument, &RawDocument) -> Result<RawDocumentBuf>;

fn gives(apply: Apply, cases: Vec<(RawDocumentBuf, RawDocumentBuf, RawDocumentBuf)>) {
    for (document, spec, expected) in cases {
        let result = apply(&document, &spec).unwrap_or_else(|e| panic!("{spec:?}: {e}"));
        assert_eq!(result, expected, "{document:?} {spec:?}");
    }
}

fn fails(apply: Apply, cases: Vec<(RawDocumentBuf, i32)>) {
    for (spec, code) in cases {
        match apply(&rawdoc! { "_id": 1, "a": [1] }, &spec) {
            Ok(result) => panic!("{spec:?} gave {result:?}"),
            Err(error) => assert_eq!(error.code().number(), code, "{spec:?}: {error}"),
        }
    }
}

#[test]
fn inclusion_keeps_the_documents_order() {
    let document = rawdoc! { "_id": 1, "a": 1, "b": { "c": 2, "d": 3 }, "e": 4 };
    let cases = vec![
        (rawdoc! { "e": 1, "a": true }, rawdoc! { "_id": 1, "a": 1, "e": 4 }),
        (rawdoc! { "a": 1, "_id": 0 }, rawdoc! { "a": 1 }),
        (rawdoc! { "_id": 1 }, rawdoc! { "_id": 1 }),
        (rawdoc! { "a": 1.5, "_id": 1 }, rawdoc! { "_id": 1, "a": 1 }),
        (rawdoc! { "x": 1 }, rawdoc! { "_id": 1 }),
        (rawdoc! { "b.d": 1, "a": 1 }, rawdoc! { "_id": 1, "a": 1, "b": { "d": 3 } }),
        (rawdoc! { "b": { "d": 1 } }, rawdoc! { "_id": 1, "b": { "d": 3 } }),
        (rawdoc! { "b": { "d": 1 }, "b.c": 1 }, rawdoc! { "_id": 1, "b": { "c": 2, "d": 3 } }),
        (rawdoc! { "b.x": 1 }, rawdoc! { "_id": 1, "b": {} }),
        // A value without fields has nothing to include below it.
        (rawdoc! { "a.x": 1 }, rawdoc! { "_id": 1 }),
        (rawdoc! { "_id.x": 1, "a": 1 }, rawdoc! { "a": 1 }),
    ];
    let cases = cases.into_iter().map(|(spec, expected)| (document.clone(), spec, expected));
    let cases: Vec<_> = cases.collect();
    gives(find, cases.clone());
    gives(stage, cases);
}

#[test]
fn inclusion_goes_through_arrays() {
    gives(
        find,
        vec![
            (
                rawdoc! { "a": [1, { "b": 2, "c": 3 }, [{ "b": 4 }, 5], {}] },
                rawdoc! { "a.b": 1 },
                rawdoc! { "a": [{ "b": 2 }, [{ "b": 4 }], {}] },
            ),
            (rawdoc! { "a": [1, 2] }, rawdoc! { "a.0": 1 }, rawdoc! { "a": [] }),
        ],
    );
}

#[test]
fn exclusion_leaves_the_rest_alone() {
    let document = rawdoc! { "_id": 1, "a": 1, "b": { "c": 2, "d": [{ "x": 1, "y": 2 }, 3] } };
    let cases = vec![
        (rawdoc! { "a": 0 }, rawdoc! { "_id": 1, "b": { "c": 2, "d": [{ "x": 1, "y": 2 }, 3] } }),
        (rawdoc! { "_id": 0, "b": false }, rawdoc! { "a": 1 }),
        (rawdoc! { "_id": 0 }, rawdoc! { "a": 1, "b": { "c": 2, "d": [{ "x": 1, "y": 2 }, 3] } }),
        (rawdoc! { "_id": 1, "b": 0 }, rawdoc! { "_id": 1, "a": 1 }),
        (
            rawdoc! { "b.d.x": 0, "a.z": 0, "b.c": 0 },
            rawdoc! { "_id": 1, "a": 1, "b": { "d": [{ "y": 2 }, 3] } },
        ),
        (rawdoc! { "b": { "c": 0, "d": 0 } }, rawdoc! { "_id": 1, "a": 1, "b": {} }),
    ];
    let cases = cases.into_iter().map(|(spec, expected)| (document.clone(), spec, expected));
    let cases: Vec<_> = cases.collect();
    gives(find, cases.clone());
    gives(stage, cases);
    gives(find, vec![(document.clone(), rawdoc! {}, document)]);
}

#[test]
fn computed_fields_come_last_in_the_order_of_the_specification() {
    let document = rawdoc! { "_id": 1, "a": 2, "b": { "c": 3 }, "l": [1, { "m": 1 }] };
    let cases = vec![
        (
            rawdoc! { "z": "$a", "y": { "$add": ["$a", 1] }, "b": 1 },
            rawdoc! { "_id": 1, "b": { "c": 3 }, "z": 2, "y": 3 },
        ),
        (rawdoc! { "a": "text", "n": null }, rawdoc! { "_id": 1, "a": "text", "n": null }),
        (rawdoc! { "l": ["$a", "$x"] }, rawdoc! { "_id": 1, "l": [2, null] }),
        (rawdoc! { "x": "$missing" }, rawdoc! { "_id": 1 }),
        (rawdoc! { "b": { "c": 1, "d": "$a" } }, rawdoc! { "_id": 1, "b": { "c": 3, "d": 2 } }),
        (rawdoc! { "b.d": "$a" }, rawdoc! { "_id": 1, "b": { "d": 2 } }),
        (rawdoc! { "x.y": "$a" }, rawdoc! { "_id": 1, "x": { "y": 2 } }),
        (rawdoc! { "x.y": "$missing" }, rawdoc! { "_id": 1, "x": {} }),
        (rawdoc! { "l.m": "$a" }, rawdoc! { "_id": 1, "l": [{ "m": 2 }, { "m": 2 }] }),
        (rawdoc! { "_id": 0, "r": "$$ROOT.a" }, rawdoc! { "r": 2 }),
        (rawdoc! { "a": { "$literal": 1 } }, rawdoc! { "_id": 1, "a": 1 }),
    ];
    let cases = cases.into_iter().map(|(spec, expected)| (document.clone(), spec, expected));
    let cases: Vec<_> = cases.collect();
    gives(find, cases.clone());
    gives(stage, cases);
}

#[test]
fn slice() {
    let document =
        rawdoc! { "_id": 1, "a": [1, 2, 3, 4], "b": 5, "c": [{ "d": [1, 2] }, [{ "d": [1, 2] }]] };
    let slice = |argument: RawBson| {
        let result = find(&document, &rawdoc! { "_id": 0, "a": { "$slice": argument } }).unwrap();
        result.get_array("a").unwrap().to_owned()
    };
    let cases: Vec<(RawBson, RawArrayBuf)> = vec![
        (2.into(), rawarray![1, 2]),
        ((-2).into(), rawarray![3, 4]),
        (0.into(), rawarray![]),
        (9.into(), rawarray![1, 2, 3, 4]),
        ((-9).into(), rawarray![1, 2, 3, 4]),
        (1.9.into(), rawarray![1]),
        (i64::MAX.into(), rawarray![1, 2, 3, 4]),
        (rawarray![1, 2].into(), rawarray![2, 3]),
        (rawarray![-3, 2].into(), rawarray![2, 3]),
        (rawarray![-9, 2].into(), rawarray![1, 2]),
        (rawarray![9, 2].into(), rawarray![]),
    ];
    for (argument, expected) in cases {
        assert_eq!(slice(argument.clone()), expected, "{argument:?}");
    }
    gives(
        find,
        vec![
            // By itself it excludes nothing; beside an inclusion it includes.
            (
                rawdoc! { "a": [1, 2], "b": 5 },
                rawdoc! { "a": { "$slice": 1 } },
                rawdoc! { "a": [1], "b": 5 },
            ),
            (
                rawdoc! { "_id": 1, "a": [1, 2], "b": 5, "c": 6 },
                rawdoc! { "b": 1, "a": { "$slice": 1 } },
                rawdoc! { "_id": 1, "a": [1], "b": 5 },
            ),
            (
                rawdoc! { "_id": 1, "a": [1, 2], "b": 5 },
                rawdoc! { "_id": 1, "a": { "$slice": 1 } },
                rawdoc! { "_id": 1, "a": [1] },
            ),
            (rawdoc! { "a": 5 }, rawdoc! { "a": { "$slice": 1 } }, rawdoc! { "a": 5 }),
            (
                document.clone(),
                rawdoc! { "_id": 0, "a": 0, "b": 0, "c.d": { "$slice": 1 } },
                rawdoc! { "c": [{ "d": [1] }, [{ "d": [1, 2] }]] },
            ),
            // The expression of the same name.
            (
                rawdoc! { "_id": 1, "a": [1, 2] },
                rawdoc! { "x": { "$slice": ["$a", 1] } },
                rawdoc! { "_id": 1, "x": [1] },
            ),
        ],
    );
}

#[test]
fn elem_match() {
    let document = rawdoc! { "_id": 1, "a": [{ "b": 1 }, { "b": 2, "c": 3 }, { "b": 2 }], "n": [1, 5, 7], "z": 9 };
    let cases = vec![
        (
            rawdoc! { "a": { "$elemMatch": { "b": 2 } } },
            rawdoc! { "_id": 1, "a": [{ "b": 2, "c": 3 }] },
        ),
        (rawdoc! { "n": { "$elemMatch": { "$gt": 3 } } }, rawdoc! { "_id": 1, "n": [5] }),
        (rawdoc! { "a": { "$elemMatch": { "b": 7 } } }, rawdoc! { "_id": 1 }),
        (rawdoc! { "z": { "$elemMatch": { "$gt": 3 } } }, rawdoc! { "_id": 1 }),
        // It comes after what is included.
        (
            rawdoc! { "a": { "$elemMatch": { "b": 1 } }, "z": 1 },
            rawdoc! { "_id": 1, "z": 9, "a": [{ "b": 1 }] },
        ),
        (
            rawdoc! { "a": { "$elemMatch": { "b": 1 } }, "n": 0 },
            rawdoc! { "_id": 1, "a": [{ "b": 1 }], "z": 9 },
        ),
    ];
    gives(find, cases.into_iter().map(|(spec, e)| (document.clone(), spec, e)).collect());
}

#[test]
fn positional() {
    let filter = Filter::parse(&rawdoc! { "a": 2 }, &Context::new()).unwrap();
    let run = |document: RawDocumentBuf, spec: RawDocumentBuf, element: Option<usize>| {
        let projection = Projection::parse(&spec, Some(&filter), &Context::new())?;
        assert!(projection.needs_match());
        projection.apply(&document, Matched { element })
    };
    let cases = vec![
        (rawdoc! { "a": [1, 2, 3], "z": 1 }, rawdoc! { "a.$": 1 }, rawdoc! { "a": [2] }),
        (
            rawdoc! { "z": 1, "a": { "b": [1, 2] } },
            rawdoc! { "a.b.$": 1, "z": 1 },
            rawdoc! { "z": 1, "a": { "b": [2] } },
        ),
        (
            rawdoc! { "a": [{ "b": 1, "c": 1 }, { "b": [5, 6], "c": 1 }] },
            rawdoc! { "a.b.$": 1 },
            rawdoc! { "a": [{ "b": [5, 6] }] },
        ),
        (rawdoc! { "a": 2 }, rawdoc! { "a.$": 1 }, rawdoc! { "a": 2 }),
    ];
    for (document, spec, expected) in cases {
        assert_eq!(run(document, spec.clone(), Some(1)).unwrap(), expected, "{spec:?}");
    }
    let code = |result: Result<RawDocumentBuf>| result.unwrap_err().code().number();
    assert_eq!(code(run(rawdoc! { "a": [1] }, rawdoc! { "a.$": 1 }, None)), 51246);
    assert_eq!(code(run(rawdoc! { "a": [1] }, rawdoc! { "a.$": 1 }, Some(1))), 51247);
    let refused = |spec: RawDocumentBuf| {
        Projection::parse(&spec, Some(&filter), &Context::new()).unwrap_err().code().number()
    };
    let cases = vec![
        (rawdoc! { "a.$": 1, "b.$": 1 }, 31276),
        (rawdoc! { "a.$": 1, "b": { "$elemMatch": { "c": 1 } } }, 31255),
        (rawdoc! { "b": { "$elemMatch": { "c": 1 } }, "a.$": 1 }, 31256),
        (rawdoc! { "a.$": 0 }, 31395),
        (rawdoc! { "a.$": "x" }, 31308),
        (rawdoc! { "a.$": { "b": 1 } }, 31271),
        (rawdoc! { "a.$.b": 1 }, 31394),
        (rawdoc! { ".$": 1 }, 5392900),
        (rawdoc! { "b": 0, "a.$": 1 }, 31253),
    ];
    for (spec, expected) in cases {
        assert_eq!(refused(spec.clone()), expected, "{spec:?}");
    }
}

#[test]
fn misuse() {
    let both = vec![
        (rawdoc! { "a": 1, "b": 0 }, 31254),
        (rawdoc! { "a": 0, "b": 1 }, 31253),
        (rawdoc! { "a": 0, "b": { "$add": [1] } }, 31252),
        (rawdoc! { "a": 0, "b": "x" }, 31310),
        (rawdoc! { "a": 1, "a.b": 1 }, 31249),
        (rawdoc! { "a.b": 1, "a": 1 }, 31250),
        (rawdoc! { "a": { "b": 1 }, "a.b": 1 }, 31250),
        (rawdoc! { "a": {} }, 51270),
        (rawdoc! { "a": { "$foo": 1 } }, 31325),
        (rawdoc! { "": 1 }, 40352),
        (rawdoc! { "a.": 1 }, 40353),
        (rawdoc! { "a..b": 1 }, 15998),
        (rawdoc! { "$a": 1 }, 16410),
        (rawdoc! { "a": { "b": 1, "$add": [1] } }, 16410),
        (rawdoc! { "a": { "$meta": "textScore" } }, 40218),
        (rawdoc! { "a": { "$meta": 5 } }, 17307),
        (rawdoc! { "a": { "$meta": "foo" } }, 17308),
    ];
    fails(find, both.clone());
    fails(stage, both);
    fails(
        find,
        vec![
            (rawdoc! { "a.$": 1 }, 51050),
            (rawdoc! { "a": { "$elemMatch": 1 } }, 31274),
            (rawdoc! { "a.b": { "$elemMatch": { "c": 1 } } }, 31275),
            (rawdoc! { "a": { "b": { "$elemMatch": { "c": 1 } } } }, 31275),
        ],
    );
    fails(
        stage,
        vec![
            (rawdoc! {}, 51272),
            (rawdoc! { "a.$": 1 }, 31324),
            (rawdoc! { "a": { "$elemMatch": { "b": 1 } } }, 168),
        ],
    );
}

#[test]
fn slice_misuse_is_the_expressions_error() {
    for argument in [RawBson::from("x"), rawarray![1].into(), rawarray![1, 0].into()] {
        let spec = rawdoc! { "a": { "$slice": argument } };
        let error = find(&rawdoc! { "a": [1] }, &spec).unwrap_err();
        assert!(error.message().contains("Invalid $slice syntax"), "{spec:?}: {error}");
    }
}

#[test]
fn added_fields_take_the_place_of_old_ones() {
    gives(
        add_fields,
        vec![
            (
                rawdoc! { "_id": 1, "a": 1, "b": 2 },
                rawdoc! { "c": { "$add": ["$a", "$b"] }, "a": 5 },
                rawdoc! { "_id": 1, "a": 5, "b": 2, "c": 3 },
            ),
            (
                rawdoc! { "a": { "x": 1 } },
                rawdoc! { "a.y": 2 },
                rawdoc! { "a": { "x": 1, "y": 2 } },
            ),
            (rawdoc! { "a": 5 }, rawdoc! { "a.y": 2 }, rawdoc! { "a": { "y": 2 } }),
            (
                rawdoc! { "a": [1, { "x": 1 }, [{}]] },
                rawdoc! { "a": { "y": 2 } },
                rawdoc! { "a": [{ "y": 2 }, { "x": 1, "y": 2 }, [{ "y": 2 }]] },
            ),
            (rawdoc! { "a": [] }, rawdoc! { "a.b": 1 }, rawdoc! { "a": [] }),
            (rawdoc! { "a": 1, "b": 2 }, rawdoc! { "a": "$$REMOVE" }, rawdoc! { "b": 2 }),
            (rawdoc! { "a": 1 }, rawdoc! { "b": "$missing", "c": {} }, rawdoc! { "a": 1, "c": {} }),
            (rawdoc! { "a": 1 }, rawdoc! {}, rawdoc! { "a": 1 }),
        ],
    );
    fails(
        add_fields,
        vec![
            (rawdoc! { "a": 1, "a.b": 1 }, 40176),
            (rawdoc! { "a.b": 1, "a": 1 }, 40176),
            (rawdoc! { "a": { "b": 1, "$add": [1] } }, 40181),
            (rawdoc! { "a": { "b.c": 1 } }, 40183),
            (rawdoc! { "a": { "$foo": 1 } }, 168),
            (rawdoc! { "$a": 1 }, 16410),
        ],
    );
}

#[test]
fn needs() {
    let paths = |paths: &[&str]| paths.iter().map(|path| Path::new(path)).collect::<Vec<_>>();
    let cases = vec![
        (rawdoc! { "a": 1, "b.c": 1 }, Needs::Paths(paths(&["a", "b.c", "_id"]))),
        (rawdoc! { "_id": 0, "a": "$x.y" }, Needs::Paths(paths(&["x.y"]))),
        (rawdoc! { "big": 0, "a.b": 0 }, Needs::Except(paths(&["big", "a.b"]))),
        (rawdoc! { "big": 0, "a": { "$slice": 1 } }, Needs::Except(paths(&["big"]))),
        (rawdoc! {}, Needs::Except(vec![])),
    ];
    for (spec, expected) in cases {
        let mut needs = Needs::none();
        Projection::parse(&spec, None, &Context::new()).unwrap().needs(&mut needs);
        assert_eq!(needs, expected, "{spec:?}");
    }
    let spec = rawdoc! { "big": "$a" };
    let spec = bson::RawBsonRef::Document(&spec);
    let mut needs = Needs::none();
    let added = Projection::parse_add_fields(spec, "$set", &Context::new()).unwrap();
    added.needs(&mut needs);
    assert_eq!(needs, Needs::Except(paths(&["big"])));
}
