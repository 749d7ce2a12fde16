//! What an update does: operators, a replacement, or a pipeline.

use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

use crate::fields::Field;

#[derive(Debug, Clone, PartialEq)]
pub enum Modification<'a> {
    /// Update operators, or a whole document; its first name tells which.
    Document(&'a RawDocument),
    Pipeline(Vec<&'a RawDocument>),
}

impl<'a> Modification<'a> {
    pub(super) fn parse(field: &Field<'a, '_>) -> Result<Modification<'a>> {
        match field.value() {
            RawBsonRef::Document(document) => Ok(Modification::Document(document)),
            RawBsonRef::Array(_) => super::aggregate::stages(field).map(Modification::Pipeline),
            _ => {
                Err(Code::FailedToParse
                    .error("Update argument must be either an object or an array"))
            }
        }
    }

    pub fn is_pipeline(&self) -> bool {
        matches!(self, Modification::Pipeline(_))
    }

    /// A whole document that takes the place of the old one.
    pub fn is_replacement(&self) -> bool {
        match self {
            Modification::Document(document) => {
                value::elements(document).next().is_none_or(|first| !first.key.starts_with('$'))
            }
            Modification::Pipeline(_) => false,
        }
    }
}
