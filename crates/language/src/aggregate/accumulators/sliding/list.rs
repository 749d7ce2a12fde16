//! `$push` and `$concatArrays` over a moving window.

use super::Slide;
use super::entered::Entered;
use crate::aggregate::accumulators::concat_arrays;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::element::array_elements;

#[derive(Debug)]
pub struct List {
    /// Whether the values are arrays whose elements are wanted.
    flat: bool,
    entered: Entered,
}

impl List {
    pub fn of_values() -> List {
        List { flat: false, entered: Entered::default() }
    }

    pub fn of_elements() -> List {
        List { flat: true, ..List::of_values() }
    }
}

impl Slide for List {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        if self.flat {
            concat_arrays::check(value.as_ref().map(RawBson::as_raw_bson_ref))?;
        }
        self.entered.add(value);
        Ok(())
    }

    fn remove(&mut self) {
        self.entered.remove();
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let mut out = RawArrayBuf::new();
        for value in self.entered.values().iter().flatten().map(RawBson::as_raw_bson_ref) {
            match value {
                RawBsonRef::Array(array) if self.flat => {
                    array_elements(array).for_each(|element| out.push(element.value()));
                }
                value => out.push(value),
            }
        }
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.entered.bytes()
    }
}
