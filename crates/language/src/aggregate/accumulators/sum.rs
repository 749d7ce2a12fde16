//! `$sum`: the sum of numbers; all else is passed over.

use super::sliding::Total;
use super::{Accumulation, Accumulator};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::{ExactSum, Number};

#[derive(Debug, Default)]
pub struct Sum(ExactSum);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Ok(Accumulation::unary(value, context, Sum::default)?.sliding(Total::sum))
}

impl Accumulator for Sum {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(number) = value.and_then(Number::from_value) {
            self.0.add(number);
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(self.0.sum()))
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
