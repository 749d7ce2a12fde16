//! `$ceil`: the least integer not below.

use super::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, decimal};
use bson::RawBson;
use dec::Rounding;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| {
        Ok(match number {
            Number::Double(value) => RawBson::Double(value.ceil()),
            Number::Decimal(value) => {
                decimal::value(decimal::whole(decimal::decode(value), Rounding::Ceiling))
            }
            integer => integer.to_value(),
        })
    })
}
