//! `$add`: the sum of numbers and at most one date.

use super::date_step;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::{DateTime, RawBsonRef};
use error::{Code, Result};
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut sum = Number::Int32(0);
    let mut ints = true;
    let mut date = None;
    for value in arguments.iter() {
        match value {
            value if coerce::is_nullish(value) => return null(),
            Some(RawBsonRef::DateTime(value)) => {
                if date.is_some() {
                    return Err(
                        Code::location(16612).error("only one date allowed in an $add expression")
                    );
                }
                date = Some(step(value.timestamp_millis(), sum)?);
            }
            value => {
                let Some(number) = coerce::number(value) else {
                    return Err(Code::TypeMismatch.error(format!(
                        "$add only supports numeric or date types, not {}",
                        coerce::type_name(value)
                    )));
                };
                ints &= matches!(number, Number::Int32(_));
                match &mut date {
                    Some(date) => *date = step(*date, number)?,
                    None => sum = add(sum, number),
                }
            }
        }
    }
    match date {
        Some(millis) => own(DateTime::from_millis(millis)),
        None => own(narrowed(sum, ints).to_value()),
    }
}

fn step(millis: i64, number: Number) -> Result<i64> {
    millis.checked_add(date_step(number)?).ok_or_else(|| Code::Overflow.error("date overflow"))
}

/// The sum or product of ints is an int again if it fits, whatever it was on the way.
pub fn narrowed(number: Number, ints: bool) -> Number {
    match number {
        Number::Int64(value) if ints => Number::from_i64(value),
        number => number,
    }
}

/// The sum of two numbers, of the wider type; int64 overflows into double.
pub fn add(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let mut context = dec::Context::<dec::Decimal128>::default();
            let sum = context.add(coerce::to_decimal(a), coerce::to_decimal(b));
            Number::Decimal(decimal::encode(sum))
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => Number::Double(a.to_f64() + b.to_f64()),
        _ => a.checked_add(b).unwrap_or_else(|| Number::Double(a.to_f64() + b.to_f64())),
    }
}
