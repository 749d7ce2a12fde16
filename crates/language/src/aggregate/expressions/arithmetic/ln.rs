//! `$ln`: the natural logarithm.

use super::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, decimal};
use bson::RawBson;
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| {
        if !number.is_nan() && (number.is_zero() || number.is_negative()) {
            return Err(Code::location(28766).error(format!(
                "$ln's argument must be a positive number, but is {}",
                number.to_f64()
            )));
        }
        Ok(match number {
            // What is not a number has no digits, and so comes as a double.
            Number::Decimal(value) if !number.is_nan() => {
                decimal::value(decimal::through_binary(decimal::decode(value), decimal::ln))
            }
            number => RawBson::Double(number.to_f64().ln()),
        })
    })
}
