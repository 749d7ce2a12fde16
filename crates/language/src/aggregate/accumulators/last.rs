//! `$last`: the value of the last document.

use super::sliding::{End, Ends};
use super::{Accumulation, Accumulator, size_of_value};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;

#[derive(Debug, Default)]
struct Last(Option<RawBson>);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let accumulation = Accumulation::unary(value, context, Last::default)?;
    Ok(accumulation.sliding(|| Ends::new(End::Last, None)))
}

impl Accumulator for Last {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        self.0 = value.map(RawBson::from);
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(self.0.clone())
    }

    fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |value| size_of_value(value.as_raw_bson_ref()))
    }
}
