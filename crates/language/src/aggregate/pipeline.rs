//! A parsed pipeline, and documents flowing through it.

use super::Foreign;
use crate::{Context, Needs};
use bson::{RawArray, RawDocumentBuf};
use error::Result;
use std::sync::Arc;

/// A stream of documents, pulled.
pub type Documents = Box<dyn Iterator<Item = Result<RawDocumentBuf>> + Send>;

#[derive(Debug)]
pub struct Pipeline {}

impl Pipeline {
    pub fn parse(stages: &RawArray, context: &Context) -> Result<Pipeline> {
        let _ = (stages, context);
        todo!()
    }

    /// Pulls documents through every stage.
    pub fn run(self, input: Documents, foreign: Arc<dyn Foreign>) -> Result<Documents> {
        let _ = (input, foreign);
        todo!()
    }

    /// What the pipeline looks at in its input documents.
    pub fn needs(&self) -> Needs {
        todo!()
    }
}
