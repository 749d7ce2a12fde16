//! `$addFields` and `$set`: adds or replaces fields.

use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::aggregate::expressions::{Expression, Node};
use crate::projection::Projection;
use crate::query::Matched;
use crate::{Context, Needs};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::Result;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;

#[derive(Debug)]
pub struct AddFields {
    name: &'static str,
    projection: Projection,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let projection = Projection::parse_add_fields(stage.value, stage.name, stage.context)?;
    one(AddFields { name: stage.name, projection })
}

/// A document with one path set to a value; `None` is a missing one.
pub fn with(
    document: &RawDocument,
    path: &Path,
    value: Option<RawBson>,
    context: &Context,
) -> Result<RawDocumentBuf> {
    AddFields::set(path, Expression::from_node(Node::Constant(value), context)?).apply(document)
}

impl AddFields {
    /// Sets one path to the value of an expression.
    pub fn set(path: &Path, expression: Expression) -> AddFields {
        AddFields { name: "$addFields", projection: Projection::add_field(path, expression) }
    }
}

impl Stage for AddFields {
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

impl Transform for AddFields {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        self.projection.apply(document, Matched::default())
    }

    fn reads(&self, needs: &mut Needs) {
        self.projection.reads(needs);
    }
}
