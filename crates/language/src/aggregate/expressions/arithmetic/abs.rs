//! `$abs`: the absolute value.

use super::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::RawBson;
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| {
        Ok(match number {
            Number::Int32(value) => coerce::int_or_long(i64::from(value).abs()),
            Number::Int64(i64::MIN) => {
                return Err(Code::location(28680).error("can't take $abs of long long min"));
            }
            Number::Int64(value) => RawBson::Int64(value.abs()),
            Number::Double(value) => RawBson::Double(value.abs()),
            Number::Decimal(value) => {
                let value = decimal::decode(value);
                decimal::value(if value.is_signed() { decimal::negate(value) } else { value })
            }
        })
    })
}
