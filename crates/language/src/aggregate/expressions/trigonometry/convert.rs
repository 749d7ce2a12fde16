//! `$degreesToRadians` and `$radiansToDegrees`.

use crate::aggregate::expressions::arithmetic::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, decimal};
use bson::RawBson;
use dec::Decimal128;
use value::Number;

/// π/180 and 180/π, to the digits of a decimal128.
const RADIANS_OF_DEGREE: &str = "0.01745329251994329576923690768488613";
const DEGREES_OF_RADIAN: &str = "57.29577951308232087679815481410517";

pub fn to_radians<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    scaled(&arguments, RADIANS_OF_DEGREE, std::f64::consts::PI / 180.0)
}

pub fn to_degrees<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    scaled(&arguments, DEGREES_OF_RADIAN, 180.0 / std::f64::consts::PI)
}

fn scaled<'a>(arguments: &Arguments<'_, 'a>, exact: &str, factor: f64) -> Evaluated<'a> {
    unary(arguments, |number| {
        Ok(match number {
            Number::Decimal(value) => {
                let factor: Decimal128 = exact.parse().unwrap_or(Decimal128::NAN);
                decimal::value(decimal::decode(value) * factor)
            }
            number => RawBson::Double(number.to_f64() * factor),
        })
    })
}
