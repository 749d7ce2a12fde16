//! `$degreesToRadians` and `$radiansToDegrees`.

use crate::aggregate::expressions::arithmetic::{unary, wide};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use bson::RawBson;
use value::Number;

/// π to the digits that the wider decimals hold.
const PI: &str = "3.14159265358979323846264338327950288";

pub fn to_radians<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| Ok(scaled(number, true)))
}

pub fn to_degrees<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| Ok(scaled(number, false)))
}

fn scaled(number: Number, radians: bool) -> RawBson {
    if !matches!(number, Number::Decimal(_)) {
        let value = number.to_f64();
        let factor = std::f64::consts::PI / 180.0;
        return RawBson::Double(if radians {
            value * factor
        } else {
            value * (180.0 / std::f64::consts::PI)
        });
    }
    let half_turn = decimal::Wide::from(180);
    let pi: decimal::Wide = PI.parse().unwrap_or_else(|_| decimal::Wide::nan());
    let (up, down) = if radians { (pi, half_turn) } else { (half_turn, pi) };
    decimal::value(wide(coerce::to_decimal(number), |context, value| {
        context.mul(value, &up);
        context.div(value, &down);
    }))
}
