//! `$pow`: a number to a power.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::RawBson;
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let numeric = |at: usize, code: i32, what: &str| {
        coerce::number(arguments.get(at)).ok_or_else(|| {
            Code::location(code).error(format!(
                "$pow's {what} must be numeric, not {}",
                coerce::type_name(arguments.get(at))
            ))
        })
    };
    let base = numeric(0, 28762, "base")?;
    let exponent = numeric(1, 28763, "exponent")?;
    if base.is_zero() && exponent.is_negative() && !exponent.is_zero() {
        return Err(
            Code::location(28764).error("$pow cannot take a base of 0 and a negative exponent")
        );
    }
    match (base, exponent) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let power = if exponent.is_zero() {
                dec::Decimal128::ONE
            } else {
                let exponent = decimal::Wide::from(coerce::to_decimal(exponent));
                super::wide(coerce::to_decimal(base), |context, value| {
                    context.pow(value, &exponent);
                })
            };
            own(decimal::value(decimal::normalize(power)))
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            own(base.to_f64().powf(exponent.to_f64()))
        }
        _ => {
            let narrow = matches!((base, exponent), (Number::Int32(_), Number::Int32(_)));
            match integer_power(base.to_i64_saturated(), exponent.to_i64_saturated()) {
                Some(power) if narrow => own(coerce::int_or_long(power)),
                Some(power) => own(RawBson::Int64(power)),
                None => own(base.to_f64().powf(exponent.to_f64())),
            }
        }
    }
}

/// The power, if it is an integer that int64 holds.
fn integer_power(base: i64, exponent: i64) -> Option<i64> {
    match base {
        1 => Some(1),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        0 if exponent > 0 => Some(0),
        base => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}
