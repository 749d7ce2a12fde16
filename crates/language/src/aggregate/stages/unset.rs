//! `$unset`: removes fields.

use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::Needs;
use crate::projection::Projection;
use crate::query::Matched;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;

#[derive(Debug)]
struct Unset {
    projection: Projection,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    one(Unset { projection: Projection::parse_unset(stage.value)? })
}

/// A stage that removes one field.
pub fn one_field(path: &Path) -> Result<Box<dyn Stage>> {
    let projection = Projection::parse_unset(RawBsonRef::String(path.as_str()))?;
    Ok(Box::new(Unset { projection }))
}

impl Stage for Unset {
    fn name(&self) -> &'static str {
        "$unset"
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

impl Transform for Unset {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        self.projection.apply(document, Matched::default())
    }

    fn reads(&self, needs: &mut Needs) {
        self.projection.reads(needs);
    }
}
