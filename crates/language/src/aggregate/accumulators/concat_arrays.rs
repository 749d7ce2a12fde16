//! `$concatArrays`: arrays, one after the other.

use super::sliding::List;
use super::{Accumulation, Accumulator, check_bytes, type_name};
use crate::Context;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::array_elements;

#[derive(Debug, Default)]
struct ConcatArrays(RawArrayBuf);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let accumulation = Accumulation::unary(value, context, ConcatArrays::default)?;
    Ok(accumulation.sliding(List::of_elements))
}

/// Refuses what is neither an array nor missing.
pub fn check(value: Option<RawBsonRef<'_>>) -> Result<()> {
    match value {
        None | Some(RawBsonRef::Array(_)) => Ok(()),
        other => Err(Code::TypeMismatch.error(format!(
            "$concatArrays requires array inputs, but input is of type {}",
            type_name(other)
        ))),
    }
}

impl Accumulator for ConcatArrays {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        check(value)?;
        if let Some(RawBsonRef::Array(array)) = value {
            array_elements(array).for_each(|element| self.0.push(element.value()));
        }
        check_bytes("$concatArrays", self.0.as_bytes().len())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(RawBson::Array(self.0.clone())))
    }

    fn held(&self) -> Option<RawBsonRef<'_>> {
        Some(RawBsonRef::Array(&self.0))
    }

    fn bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}
