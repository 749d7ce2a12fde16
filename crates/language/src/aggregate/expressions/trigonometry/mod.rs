//! Trigonometry, in radians.

mod convert;
mod decimal;

use super::arithmetic::unary;
use super::node::{null, own};
use super::table::Arity;
use super::{Arguments, Evaluated, Row, coerce};
use crate::aggregate::expressions::decimal as arithmetic;
use crate::describe;
use bson::RawBson;
use dec::Decimal128;
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
    ($($name:ident $domain:ident $double:path;)*) => {
        $(fn $name<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
            apply(&arguments, Domain::$domain, $double, decimal::$name)
        })*
    };
}

functions! {
    acos Unit f64::acos;
    acosh FromOne inverse_cosh;
    asin Unit f64::asin;
    asinh All f64::asinh;
    atan All f64::atan;
    atanh Unit f64::atanh;
    cos Finite f64::cos;
    cosh All f64::cosh;
    sin Finite f64::sin;
    sinh All f64::sinh;
    tan Finite f64::tan;
    tanh All f64::tanh;
}

/// The inverse hyperbolic cosine with all its digits near one too, which the standard
/// library's has not.
fn inverse_cosh(x: f64) -> f64 {
    let above = x - 1.0;
    if x < 2.0 { (above + (2.0 * above + above * above).sqrt()).ln_1p() } else { x.acosh() }
}

fn apply<'a>(
    arguments: &Arguments<'_, 'a>,
    domain: Domain,
    function: fn(f64) -> f64,
    of_decimal: fn(Decimal128) -> Decimal128,
) -> Evaluated<'a> {
    unary(arguments, |number| {
        check(arguments.name, number, domain)?;
        Ok(match number {
            _ if number.is_nan() => number.to_value(),
            Number::Decimal(value) => arithmetic::value(of_decimal(arithmetic::decode(value))),
            number => RawBson::Double(function(number.to_f64())),
        })
    })
}

fn check(name: &str, number: Number, domain: Domain) -> Result<()> {
    let from = |least: i32| number.compare(Number::Int32(least)).is_ge();
    let (inside, bounds) = match domain {
        Domain::All => (true, ""),
        Domain::Finite => (!number.is_infinite(), "(-inf,inf)"),
        Domain::Unit => (from(-1) && number.compare(Number::Int32(1)).is_le(), "[-1,1]"),
        Domain::FromOne => (from(1), "[1,inf]"),
    };
    if inside || number.is_nan() {
        return Ok(());
    }
    Err(Code::location(50989).error(format!(
        "cannot apply {name} to {}, value must be in {bounds}",
        describe::value(number.to_ref())
    )))
}

fn atan2<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let numeric = |at: usize, code: i32| {
        coerce::number(arguments.get(at)).ok_or_else(|| {
            Code::location(code).error(format!(
                "$atan2 only supports numeric types, not {}",
                coerce::type_name(arguments.get(at))
            ))
        })
    };
    // A null hides what is wrong with the operand after it.
    if arguments.nullish(0) {
        return null();
    }
    let y = numeric(0, 51044)?;
    if arguments.nullish(1) {
        return null();
    }
    let x = numeric(1, 51045)?;
    if y.is_decimal() || x.is_decimal() {
        let angle = decimal::atan2(coerce::to_decimal(y), coerce::to_decimal(x));
        return own(arithmetic::value(angle));
    }
    own(y.to_f64().atan2(x.to_f64()))
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
