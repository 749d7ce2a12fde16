//! `$project`: includes, excludes and computes fields.

use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::Needs;
use crate::metadata::{self, Asked};
use crate::projection::Projection;
use crate::query::Matched;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;

#[derive(Debug)]
pub struct Project {
    pub projection: Projection,
    /// The metadata that the pipeline asks for: it stays with what is left.
    asked: Arc<Asked>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::location(15969).error("$project specification must be an object"));
    };
    let projection = Projection::parse_stage(spec, stage.context)?;
    one(Project { projection, asked: stage.context.asked.clone() })
}

impl Stage for Project {
    fn name(&self) -> &'static str {
        "$project"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        map(input, self)
    }

    /// An exclusion needs all there is, so nothing beside what it needs is seen
    /// behind it either.
    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.projection.needs(needs);
        ControlFlow::Break(())
    }

    fn lets_pass(&self, read: &Needs) -> bool {
        matches!(read, Needs::Paths(paths) if paths.iter().all(|path| self.projection.leaves(path)))
    }

    fn source_of(&self, path: &Path) -> Option<Path> {
        self.projection.source_of(path)
    }

    fn transform(&self) -> Option<&dyn Transform> {
        Some(self)
    }
}

impl Transform for Project {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let projected = self.projection.apply(document, Matched::default())?;
        Ok(metadata::carry(document, projected, self.asked.wanted()))
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
