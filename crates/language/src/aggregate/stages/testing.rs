//! Pipelines over documents, for the tests of stages.

use crate::Context;
use crate::aggregate::{Documents, Foreign, Nowhere, Pipeline, Spill, Spilled};
use bson::{Bson, Document, RawArrayBuf, RawDocument, RawDocumentBuf};
use error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Other collections in memory, and runs of documents that are "spilled" there.
#[derive(Default)]
pub struct World {
    pub collections: Vec<(&'static str, Vec<Document>)>,
    pub spills: AtomicUsize,
    /// How many times a collection was read.
    pub reads: AtomicUsize,
}

impl Foreign for World {
    fn database(&self) -> &str {
        "test"
    }

    fn run(&self, database: &str, collection: &str, pipeline: Pipeline) -> Result<Documents> {
        assert_eq!(database, "test");
        self.reads.fetch_add(1, Ordering::Relaxed);
        let found = self.collections.iter().find(|(name, _)| *name == collection);
        let documents = found.map(|(_, documents)| documents.clone()).unwrap_or_default();
        pipeline.run(stream(documents), Arc::new(Nowhere))
    }

    fn spill(&self) -> Result<Option<Box<dyn Spill>>> {
        self.spills.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Box::new(Run::default())))
    }
}

#[derive(Default)]
struct Run(Vec<RawDocumentBuf>);

impl Spill for Run {
    fn push(&mut self, document: &RawDocument) -> Result<()> {
        self.0.push(document.to_owned());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Spilled>> {
        Ok(self)
    }
}

impl Spilled for Run {
    fn read(&self) -> Documents {
        Box::new(self.0.clone().into_iter().map(Ok))
    }
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
