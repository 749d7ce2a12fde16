//! `$addFields` and `$set`: adds or replaces fields.

use super::reshape::Reshape;
use super::{Specification, Stage, Transform, one};
use crate::Context;
use crate::aggregate::expressions::{Expression, Node};
use crate::projection::Projection;
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::Result;
use value::Path;

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let projection = Projection::parse_add_fields(stage.value, stage.name, stage.context)?;
    one(Reshape { name: stage.name, projection })
}

/// Sets one path to the value of an expression.
pub fn set(path: &Path, expression: Expression) -> Reshape {
    Reshape { name: "$addFields", projection: Projection::add_field(path, expression) }
}

/// A document with paths set to values that do not overlap; `None` is a missing one.
pub fn with<'a>(
    document: &RawDocument,
    values: impl IntoIterator<Item = (&'a Path, Option<RawBson>)>,
    context: &Context,
) -> Result<RawDocumentBuf> {
    let values = values.into_iter();
    let values = values
        .map(|(path, value)| Ok((path, Expression::from_node(Node::Constant(value), context)?)));
    let projection = Projection::add_fields(values.collect::<Result<Vec<_>>>()?)?;
    Reshape { name: "$addFields", projection }.apply(document)
}
