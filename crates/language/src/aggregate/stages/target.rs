//! Where a pipeline's documents go: what `$out` and `$merge` ask the runner for.

use super::{Documents, Foreign, Stage};
use crate::Needs;
use bson::{RawArrayBuf, RawDocumentBuf};
use error::Result;
use std::ops::ControlFlow;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Replaces the collection by the documents, all at once.
    Out {
        /// `None` is the pipeline's own database.
        database: Option<String>,
        collection: String,
        /// Options of a time series collection to be made.
        timeseries: Option<RawDocumentBuf>,
    },
    /// Writes each document into the collection.
    Merge {
        /// `None` is the pipeline's own database.
        database: Option<String>,
        collection: String,
        /// The fields that identify a document there: `_id` unless given.
        on: Vec<String>,
        /// Whether `on` was given; its fields then need a unique index.
        on_given: bool,
        when_matched: WhenMatched,
        when_not_matched: WhenNotMatched,
    },
}

impl Target {
    /// The stage that writes to it.
    pub fn stage_name(&self) -> &'static str {
        match self {
            Target::Out { .. } => "$out",
            Target::Merge { .. } => "$merge",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum WhenMatched {
    Replace,
    KeepExisting,
    Merge,
    Fail,
    /// An update pipeline, run over the existing document with these variables:
    /// expressions over the new document, `new` (all of it) unless given.
    Pipeline {
        stages: RawArrayBuf,
        variables: RawDocumentBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenNotMatched {
    Insert,
    Discard,
    Fail,
}

/// The last stage of a pipeline, standing for its target.
#[derive(Debug)]
pub struct Written {
    pub name: &'static str,
    pub target: Target,
}

impl Stage for Written {
    fn name(&self) -> &'static str {
        self.name
    }

    /// The runner writes what comes out.
    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(input)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.all();
        ControlFlow::Break(())
    }

    fn target(&self) -> Option<&Target> {
        Some(&self.target)
    }
}
