//! Trigonometry, in radians. Decimals are computed with the precision of a
//! double, but for the conversions between degrees and radians.

mod convert;

use super::arithmetic::unary;
use super::node::{null, own};
use super::table::Arity;
use super::{Arguments, Evaluated, Row, coerce, decimal};
use bson::RawBson;
use error::{Code, Result};
use value::Number;

pub const ROWS: &[Row] = &[
    Row::call("$acos", Arity::Exactly(1), acos, "the inverse cosine"),
    Row::call("$acosh", Arity::Exactly(1), acosh, "the inverse hyperbolic cosine"),
    Row::call("$asin", Arity::Exactly(1), asin, "the inverse sine"),
    Row::call("$asinh", Arity::Exactly(1), asinh, "the inverse hyperbolic sine"),
    Row::call("$atan", Arity::Exactly(1), atan, "the inverse tangent"),
    Row::call("$atan2", Arity::Exactly(2), atan2, "the inverse tangent of a quotient"),
    Row::call("$atanh", Arity::Exactly(1), atanh, "the inverse hyperbolic tangent"),
    Row::call("$cos", Arity::Exactly(1), cos, "the cosine"),
    Row::call("$cosh", Arity::Exactly(1), cosh, "the hyperbolic cosine"),
    Row::call("$degreesToRadians", Arity::Exactly(1), convert::to_radians, "degrees as radians"),
    Row::call("$radiansToDegrees", Arity::Exactly(1), convert::to_degrees, "radians as degrees"),
    Row::call("$sin", Arity::Exactly(1), sin, "the sine"),
    Row::call("$sinh", Arity::Exactly(1), sinh, "the hyperbolic sine"),
    Row::call("$tan", Arity::Exactly(1), tan, "the tangent"),
    Row::call("$tanh", Arity::Exactly(1), tanh, "the hyperbolic tangent"),
];

/// The numbers a function is defined on.
enum Domain {
    All,
    Finite,
    /// From -1 to 1.
    Unit,
    /// From 1.
    FromOne,
}

macro_rules! functions {
    ($($name:ident $domain:ident)*) => {
        $(fn $name<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
            apply(&arguments, Domain::$domain, f64::$name)
        })*
    };
}

functions! {
    acos Unit
    acosh FromOne
    asin Unit
    asinh All
    atan All
    atanh Unit
    cos Finite
    cosh All
    sin Finite
    sinh All
    tan Finite
    tanh All
}

fn apply<'a>(
    arguments: &Arguments<'_, 'a>,
    domain: Domain,
    function: fn(f64) -> f64,
) -> Evaluated<'a> {
    unary(arguments, |number| {
        let value = number.to_f64();
        check(arguments.name, value, domain)?;
        Ok(result(number, function(value)))
    })
}

fn check(name: &str, value: f64, domain: Domain) -> Result<()> {
    let (inside, bounds) = match domain {
        Domain::All => (true, ""),
        Domain::Finite => (!value.is_infinite(), "(-inf,inf)"),
        Domain::Unit => ((-1.0..=1.0).contains(&value), "[-1,1]"),
        Domain::FromOne => (value >= 1.0, "[1,inf]"),
    };
    if inside || value.is_nan() {
        return Ok(());
    }
    Err(Code::location(50989)
        .error(format!("cannot apply {name} to {value}, value must be in {bounds}")))
}

fn result(number: Number, value: f64) -> RawBson {
    match number {
        Number::Decimal(_) => decimal::value(decimal::from_f64_exact(value)),
        _ => RawBson::Double(value),
    }
}

fn atan2<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let numeric = |at: usize, code: i32| {
        coerce::number(arguments.get(at)).ok_or_else(|| {
            Code::location(code).error(format!(
                "$atan2 only supports numeric types, not {}",
                coerce::type_name(arguments.get(at))
            ))
        })
    };
    let (y, x) = (numeric(0, 51044)?, numeric(1, 51045)?);
    let widest = if matches!(x, Number::Decimal(_)) { x } else { y };
    own(result(widest, y.to_f64().atan2(x.to_f64())))
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::{Bson, bson};

    #[test]
    fn functions() {
        values(vec![
            (bson!({"$sin": 0}), bson!(0.0)),
            (bson!({"$cos": 0}), bson!(1.0)),
            (bson!({"$tan": 0}), bson!(0.0)),
            (bson!({"$asin": 1}), bson!(std::f64::consts::FRAC_PI_2)),
            (bson!({"$acos": 1}), bson!(0.0)),
            (bson!({"$atan": 0}), bson!(0.0)),
            (bson!({"$atan2": [1, 1]}), bson!(std::f64::consts::FRAC_PI_4)),
            (bson!({"$atan2": ["$missing", 1]}), bson!(null)),
            (bson!({"$sinh": 0}), bson!(0.0)),
            (bson!({"$cosh": 0}), bson!(1.0)),
            (bson!({"$tanh": 0}), bson!(0.0)),
            (bson!({"$asinh": 0}), bson!(0.0)),
            (bson!({"$acosh": 1}), bson!(0.0)),
            (bson!({"$atanh": 0}), bson!(0.0)),
            (bson!({"$sin": "$missing"}), bson!(null)),
            (bson!({"$degreesToRadians": 180}), bson!(std::f64::consts::PI)),
            (bson!({"$radiansToDegrees": std::f64::consts::PI}), bson!(180.0)),
            (
                bson!({"$degreesToRadians": Bson::Decimal128("180".parse().unwrap())}),
                Bson::Decimal128("3.141592653589793238462643383279503".parse().unwrap()),
            ),
        ]);
        errors(vec![
            (bson!({"$sin": "x"}), 28765),
            (bson!({"$sin": f64::INFINITY}), 50989),
            (bson!({"$asin": 2}), 50989),
            (bson!({"$acos": -2}), 50989),
            (bson!({"$acosh": 0}), 50989),
            (bson!({"$atanh": 2}), 50989),
            (bson!({"$atan2": ["x", 1]}), 51044),
            (bson!({"$atan2": [1, "x"]}), 51045),
            (bson!({"$cos": [1, 2]}), 16020),
        ]);
    }
}
