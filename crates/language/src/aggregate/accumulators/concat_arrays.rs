//! `$concatArrays`: arrays, one after the other.

use super::{Accumulation, Accumulator, check_bytes, type_name};
use crate::Context;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::array_elements;

#[derive(Debug, Default)]
struct ConcatArrays(RawArrayBuf);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Accumulation::unary(value, context, ConcatArrays::default)
}

impl Accumulator for ConcatArrays {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match value {
            None => Ok(()),
            Some(RawBsonRef::Array(array)) => {
                for element in array_elements(array) {
                    self.0.push(element.value());
                }
                check_bytes("$concatArrays", self.0.as_bytes().len())
            }
            other => Err(Code::TypeMismatch.error(format!(
                "$concatArrays requires array inputs, but input is of type {}",
                type_name(other)
            ))),
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(RawBson::Array(self.0.clone())))
    }

    fn bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}
