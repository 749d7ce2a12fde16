//! `$exp`: e to a power.

use super::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, decimal};
use bson::RawBson;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| {
        Ok(match number {
            Number::Decimal(value) => {
                decimal::value(decimal::through_binary(decimal::decode(value), decimal::exp))
            }
            number => RawBson::Double(number.to_f64().exp()),
        })
    })
}
