//! `$unset`: removes fields.

use super::reshape::Reshape;
use super::{Specification, Stage, one};
use crate::projection::Projection;
use bson::RawBsonRef;
use error::Result;
use value::Path;

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    one(Reshape { name: stage.name, projection: Projection::parse_unset(stage.value)? })
}

/// A stage that removes one field.
pub fn one_field(path: &Path) -> Result<Box<dyn Stage>> {
    let projection = Projection::parse_unset(RawBsonRef::String(path.as_str()))?;
    Ok(Box::new(Reshape { name: "$unset", projection }))
}
