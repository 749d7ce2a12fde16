//! `$round`: rounded to a place, halves to the even digit.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::RawBson;
use dec::Rounding;
use error::{Code, Result};
use value::Number;

/// How many places before and behind the point may be asked for.
const PLACES: std::ops::RangeInclusive<i64> = -20..=100;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    to_place(&arguments, Rounding::HalfEven)
}

/// What `$round` and `$trunc` share.
pub fn to_place<'a>(arguments: &Arguments<'_, 'a>, rounding: Rounding) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let name = arguments.name;
    let Some(number) = coerce::number(arguments.get(0)) else {
        return Err(Code::location(51081).error(format!(
            "{name} only supports numeric types, not {}",
            coerce::type_name(arguments.get(0))
        )));
    };
    let mut places = 0;
    if arguments.len() > 1 {
        if arguments.nullish(1) {
            return null();
        }
        if !coerce::is_numeric(arguments.get(1)) {
            return Err(Code::location(16004).error(format!(
                "can't convert from BSON type {} to long",
                coerce::type_name(arguments.get(1))
            )));
        }
        let Some(given) = coerce::integral32(arguments.get(1)) else {
            return Err(Code::location(51082)
                .error(format!("precision argument to  {name} must be a integral value")));
        };
        if !PLACES.contains(&given.into()) {
            return Err(Code::location(51083).error(format!(
                "cannot apply {name} with precision value {given} value must be in [-20, 100]"
            )));
        }
        places = given;
    }
    own(rounded(name, number, places, rounding)?)
}

fn rounded(name: &str, number: Number, places: i32, rounding: Rounding) -> Result<RawBson> {
    Ok(match number {
        Number::Decimal(value) => {
            decimal::value(decimal::quantize(decimal::decode(value), places, rounding))
        }
        Number::Double(value) if !value.is_finite() => RawBson::Double(value),
        Number::Double(value) => {
            let exact = decimal::from_f64_exact(value);
            let rounded = decimal::to_f64(decimal::round_to(exact, places, rounding));
            RawBson::Double(if rounded == 0.0 && value.is_sign_negative() { -0.0 } else { rounded })
        }
        integer if places >= 0 => integer.to_value(),
        integer => {
            let exact = decimal::round_to(coerce::to_decimal(integer), places, rounding);
            let Some(rounded) = decimal::integer(exact) else {
                return Err(Code::location(51080).error(format!(
                    "invalid conversion from Decimal128 result in {name} resulting from arguments: [{}, {places}]",
                    integer.to_i64_saturated()
                )));
            };
            match integer {
                Number::Int32(_) => coerce::int_or_long(rounded),
                _ => RawBson::Int64(rounded),
            }
        }
    })
}
