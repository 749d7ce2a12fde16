//! A stage that adds, replaces or removes fields of each document and lets the others be:
//! `$addFields`, `$set` and `$unset`.

use super::{Documents, Foreign, Stage, Transform, map};
use crate::Needs;
use crate::projection::Projection;
use crate::query::Matched;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;

#[derive(Debug)]
pub struct Reshape {
    pub name: &'static str,
    pub projection: Projection,
}

impl Stage for Reshape {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        map(input, self)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.projection.reads(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(self.projection.paths())
    }

    fn transform(&self) -> Option<&dyn Transform> {
        Some(self)
    }
}

impl Transform for Reshape {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        self.projection.apply(document, Matched::default())
    }

    fn reads(&self, needs: &mut Needs) {
        self.projection.reads(needs);
    }

    fn computes_from(&self, needs: &mut Needs) {
        self.projection.computes_from(needs);
    }

    fn goes_below(&self, path: &Path) -> bool {
        self.projection.goes_below(path)
    }
}
