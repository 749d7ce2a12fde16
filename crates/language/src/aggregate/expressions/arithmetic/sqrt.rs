//! `$sqrt`: the square root.

use super::{unary, wide};
use crate::aggregate::expressions::{Arguments, Evaluated, decimal};
use bson::RawBson;
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| {
        if number.is_negative() && !number.is_zero() && !number.is_nan() {
            return Err(
                Code::location(28714).error("$sqrt's argument must be greater than or equal to 0")
            );
        }
        Ok(match number {
            // Zero keeps its sign.
            Number::Decimal(_) if number.is_zero() => number.to_value(),
            Number::Decimal(value) => {
                decimal::value(wide(decimal::decode(value), |context, value| context.sqrt(value)))
            }
            number => RawBson::Double(number.to_f64().sqrt()),
        })
    })
}
