//! `$setUnion`: different elements of arrays, each once.

use super::add_to_set::Set;
use super::{Accumulation, Accumulator, sliding, type_name};
use crate::Context;
use bson::{RawArray, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::array_elements;

struct SetUnion(Set);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let mut accumulation = Accumulation::unary(value, context, Set::default)?;
    let collator = context.collator.clone();
    accumulation.start = Box::new(move |_| Ok(Box::new(SetUnion(Set::new(collator.clone())))));
    let collator = context.collator.clone();
    Ok(accumulation.sliding(move || sliding::Set::of_elements(collator.clone())))
}

/// The array that a value is, if it is not missing.
pub fn elements_of(value: Option<RawBsonRef<'_>>) -> Result<Option<&RawArray>> {
    match value {
        None => Ok(None),
        Some(RawBsonRef::Array(array)) => Ok(Some(array)),
        other => Err(Code::TypeMismatch.error(format!(
            "$setUnion requires array inputs, but input is of type {}",
            type_name(other)
        ))),
    }
}

impl Accumulator for SetUnion {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        let mut elements = elements_of(value)?.into_iter().flat_map(array_elements);
        elements.try_for_each(|element| self.0.insert("$setUnion", element.value()))
    }

    fn value(&self) -> Result<Option<RawBson>> {
        self.0.value()
    }

    fn held(&self) -> Option<RawBsonRef<'_>> {
        self.0.held()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
