//! Pipelines over documents, for the tests of stages.

use crate::Context;
use crate::aggregate::{Documents, Foreign, Nowhere, Pipeline};
use bson::{Bson, Document, RawArrayBuf, RawDocumentBuf};
use error::Result;
use std::sync::Arc;

pub fn stages(pipeline: Vec<Document>) -> RawArrayBuf {
    let mut array = RawArrayBuf::new();
    for stage in pipeline {
        array.push(RawDocumentBuf::try_from(&stage).unwrap());
    }
    array
}

pub fn stream(documents: Vec<Document>) -> Documents {
    Box::new(documents.into_iter().map(|d| Ok(RawDocumentBuf::try_from(&d).unwrap())))
}

pub fn run_in(
    pipeline: Vec<Document>,
    input: Vec<Document>,
    foreign: Arc<dyn Foreign>,
) -> Result<Vec<Document>> {
    let pipeline = Pipeline::parse(&stages(pipeline), &Context::new())?;
    pipeline
        .run(stream(input), foreign)?
        .map(|document| Ok(Document::try_from(document?.as_ref()).unwrap()))
        .collect()
}

pub fn run(pipeline: Vec<Document>, input: Vec<Document>) -> Result<Vec<Document>> {
    run_in(pipeline, input, Arc::new(Nowhere))
}

/// The pipeline turns the input into exactly these documents.
#[track_caller]
pub fn check(pipeline: Vec<Document>, input: Vec<Document>, expected: Vec<Document>) {
    let shown = Bson::from(pipeline.clone()).to_string();
    assert_eq!(run(pipeline, input).unwrap(), expected, "{shown}");
}

/// Each stage alone is refused with its code, before any document is read.
#[track_caller]
pub fn refused(cases: Vec<(Document, i32)>) {
    for (stage, code) in cases {
        let shown = stage.to_string();
        match Pipeline::parse(&stages(vec![stage]), &Context::new()) {
            Ok(_) => panic!("{shown} was accepted"),
            Err(error) => assert_eq!(error.code().number(), code, "{shown}: {error}"),
        }
    }
}
