//! `$mergeObjects`: documents merged, later fields winning in the place of
//! earlier ones.

use super::{Accumulation, Accumulator, check_bytes};
use crate::Context;
use crate::aggregate::expressions::{coerce, object::merge_objects::merge};
use crate::describe;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};

#[derive(Debug, Default)]
struct MergeObjects(RawDocumentBuf);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Accumulation::unary(value, context, MergeObjects::default)
}

impl Accumulator for MergeObjects {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match value {
            value if coerce::is_nullish(value) => Ok(()),
            Some(RawBsonRef::Document(document)) => {
                self.0 = merge(&self.0, document);
                check_bytes("$mergeObjects", self.0.as_bytes().len())
            }
            other => Err(Code::location(40400).error(format!(
                "$mergeObjects requires object inputs, but input {} is of type {}",
                other.map(describe::value).unwrap_or_default(),
                coerce::type_name(other)
            ))),
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(RawBson::Document(self.0.clone())))
    }

    fn bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}
