//! `$setUnion`: different elements of arrays, each once.

use super::add_to_set::Set;
use super::{Accumulation, Accumulator, type_name};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::array_elements;

struct SetUnion(Set);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let mut accumulation = Accumulation::unary(value, context, Set::default)?;
    let collator = context.collator.clone();
    accumulation.start = Box::new(move |_| Ok(Box::new(SetUnion(Set::new(collator.clone())))));
    Ok(accumulation)
}

impl Accumulator for SetUnion {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match value {
            None => Ok(()),
            Some(RawBsonRef::Array(array)) => array_elements(array)
                .try_for_each(|element| self.0.insert("$setUnion", element.value())),
            other => Err(Code::TypeMismatch.error(format!(
                "$setUnion requires array inputs, but input is of type {}",
                type_name(other)
            ))),
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        self.0.value()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
