//! `$subtract`: the difference of numbers, of dates, or of a date and a number.

use super::date_step;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::{DateTime, RawBsonRef};
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let (first, second) = (arguments.get(0), arguments.get(1));
    if let (Some(a), Some(b)) = (coerce::number(first), coerce::number(second)) {
        return own(subtract(a, b).to_value());
    }
    if arguments.any_nullish() {
        return null();
    }
    let overflow = || Code::Overflow.error("date overflow");
    match (first, second) {
        (Some(RawBsonRef::DateTime(a)), Some(RawBsonRef::DateTime(b))) => {
            let difference = a.timestamp_millis().checked_sub(b.timestamp_millis());
            own(difference.ok_or_else(overflow)?)
        }
        (Some(RawBsonRef::DateTime(a)), other) if coerce::is_numeric(other) => {
            let step = coerce::number(other).map_or(Ok(0), date_step)?;
            let millis = a.timestamp_millis().checked_sub(step).ok_or_else(overflow)?;
            own(DateTime::from_millis(millis))
        }
        _ => Err(Code::TypeMismatch.error(format!(
            "can't $subtract {} from {}",
            coerce::type_name(second),
            coerce::type_name(first)
        ))),
    }
}

/// The difference of two numbers, of the wider type; int64 overflows into double.
pub fn subtract(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let mut context = dec::Context::<dec::Decimal128>::default();
            let difference = context.sub(coerce::to_decimal(a), coerce::to_decimal(b));
            Number::Decimal(decimal::encode(difference))
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => Number::Double(a.to_f64() - b.to_f64()),
        _ => a.checked_subtract(b).unwrap_or_else(|| Number::Double(a.to_f64() - b.to_f64())),
    }
}
