//! `$avg`: the average of numbers, null for none.

use super::summation::Summation;
use super::{Accumulation, Accumulator};
use crate::Context;
use crate::aggregate::expressions::decimal;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::Number;

#[derive(Debug, Default)]
pub struct Avg {
    sum: Summation,
    count: i64,
}

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Accumulation::unary(value, context, Avg::default)
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
        Ok(Some(if self.count == 0 {
            RawBson::Null
        } else if self.sum.is_decimal() {
            let mut context = dec::Context::<dec::Decimal128>::default();
            decimal::value(context.div(self.sum.decimal(), self.count.into()))
        } else {
            RawBson::Double(self.sum.double() / self.count as f64)
        }))
    }
}
