//! Arithmetic over numbers of every type, and over dates.

mod abs;
pub mod add;
mod ceil;
mod divide;
mod exp;
mod floor;
mod ln;
mod log;
mod log10;
mod modulo;
mod multiply;
mod pow;
mod round;
mod sigmoid;
mod sqrt;
pub mod subtract;
mod trunc;

use super::node::null;
use super::table::Arity;
use super::{Arguments, Evaluated, Row, coerce};
use dec::Decimal128;
use error::{Code, Result};
use value::Number;

pub const ROWS: &[Row] = &[
    Row::call("$abs", Arity::Exactly(1), abs::evaluate, "the absolute value"),
    Row::call("$add", Arity::Any, add::evaluate, "the sum of numbers and at most one date"),
    Row::call("$ceil", Arity::Exactly(1), ceil::evaluate, "the least integer not below"),
    Row::call("$divide", Arity::Exactly(2), divide::evaluate, "the quotient"),
    Row::call("$exp", Arity::Exactly(1), exp::evaluate, "e to a power"),
    Row::call("$floor", Arity::Exactly(1), floor::evaluate, "the greatest integer not above"),
    Row::call("$ln", Arity::Exactly(1), ln::evaluate, "the natural logarithm"),
    Row::call("$log", Arity::Exactly(2), log::evaluate, "the logarithm to a base"),
    Row::call("$log10", Arity::Exactly(1), log10::evaluate, "the logarithm to base 10"),
    Row::call("$mod", Arity::Exactly(2), modulo::evaluate, "the remainder"),
    Row::call("$multiply", Arity::Any, multiply::evaluate, "the product"),
    Row::call("$pow", Arity::Exactly(2), pow::evaluate, "a number to a power"),
    Row::call("$round", Arity::Between(1, 2), round::evaluate, "rounded to a place"),
    Row::own("$sigmoid", sigmoid::parse, "the logistic function"),
    Row::call("$sqrt", Arity::Exactly(1), sqrt::evaluate, "the square root"),
    Row::call("$subtract", Arity::Exactly(2), subtract::evaluate, "the difference"),
    Row::call("$trunc", Arity::Between(1, 2), trunc::evaluate, "cut off at a place"),
];

/// The one number of a unary operator; null where it is null or missing.
pub fn unary<'a>(
    arguments: &Arguments<'_, 'a>,
    compute: impl FnOnce(Number) -> Result<bson::RawBson>,
) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    match coerce::number(arguments.get(0)) {
        Some(number) => super::node::own(compute(number)?),
        None => Err(Code::location(28765).error(format!(
            "{} only supports numeric types, not {}",
            arguments.name,
            coerce::type_name(arguments.get(0))
        ))),
    }
}

/// Computes with more digits than a decimal128 has, and rounds once.
pub fn wide(
    number: Decimal128,
    compute: impl FnOnce(&mut dec::Context<super::decimal::Wide>, &mut super::decimal::Wide),
) -> Decimal128 {
    let mut context = super::decimal::transcendental();
    let mut value = super::decimal::Wide::from(number);
    compute(&mut context, &mut value);
    super::decimal::narrow(&value)
}

/// The integer that a date moves by, rounded from any number.
fn date_step(number: Number) -> Result<i64> {
    let step = match number {
        Number::Int32(value) => Some(value.into()),
        Number::Int64(value) => Some(value),
        Number::Double(value) => Number::Double(value.round()).to_i64_exact(),
        Number::Decimal(value) => {
            let whole =
                super::decimal::round_to(super::decimal::decode(value), 0, dec::Rounding::HalfEven);
            super::decimal::integer(whole)
        }
    };
    step.ok_or_else(|| Code::Overflow.error("date overflow"))
}

#[cfg(test)]
mod tests;
