//! `$avg`: the average of numbers, null for none.

use super::sliding::Total;
use super::summation::Summation;
use super::{Accumulation, Accumulator};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::Number;

#[derive(Debug, Default)]
pub struct Avg {
    sum: Summation,
    count: usize,
}

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Ok(Accumulation::unary(value, context, Avg::default)?.sliding(Total::average))
}

impl Accumulator for Avg {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(number) = value.and_then(Number::from_value) {
            self.sum.add(number);
            self.count += 1;
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(match self.count {
            0 => RawBson::Null,
            count => self.sum.mean(count),
        }))
    }
}
