//! `$first`: the value of the first document.

use super::sliding::{End, Ends};
use super::{Accumulation, Accumulator, size_of_value};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;

#[derive(Debug, Default)]
struct First {
    value: Option<RawBson>,
    seen: bool,
}

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let accumulation = Accumulation::unary(value, context, First::default)?;
    Ok(accumulation.sliding(|| Ends::new(End::First, None)))
}

impl Accumulator for First {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if !self.seen {
            self.seen = true;
            self.value = value.map(RawBson::from);
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(self.value.clone())
    }

    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, |value| size_of_value(value.as_raw_bson_ref()))
    }
}
