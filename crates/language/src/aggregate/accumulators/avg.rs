//! `$avg`: the average of numbers, null for none.

use super::sliding::Total;
use super::{Accumulation, Accumulator};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::{ExactSum, Number};

#[derive(Debug, Default)]
pub struct Avg(ExactSum);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Ok(Accumulation::unary(value, context, Avg::default)?.sliding(Total::average))
}

impl Accumulator for Avg {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(number) = value.and_then(Number::from_value) {
            self.0.add(number);
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(self.0.avg()))
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
