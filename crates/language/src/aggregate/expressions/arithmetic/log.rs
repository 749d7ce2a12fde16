//! `$log`: the logarithm to a base.

use crate::aggregate::expressions::decimal::Wide;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use dec::Decimal128;
use error::Code;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let numeric = |at: usize, code: i32, what: &str| {
        coerce::number(arguments.get(at)).ok_or_else(|| {
            Code::location(code).error(format!(
                "$log's {what} must be numeric, not {}",
                coerce::type_name(arguments.get(at))
            ))
        })
    };
    let number = numeric(0, 28756, "argument")?;
    let base = numeric(1, 28757, "base")?;
    if number.is_zero() || (number.is_negative() && !number.is_nan()) {
        return Err(Code::location(28758).error(format!(
            "$log's argument must be a positive number, but is {}",
            number.to_f64()
        )));
    }
    let positive = !base.is_zero() && !base.is_negative() && base.to_f64() != 1.0;
    if !positive && !base.is_nan() {
        return Err(Code::location(28759).error(format!(
            "$log's base must be a positive number not equal to 1, but is {}",
            base.to_f64()
        )));
    }
    // What is not a number has no digits, and so comes as a double.
    if (number.is_decimal() || base.is_decimal()) && !number.is_nan() && !base.is_nan() {
        return own(decimal::value(of_decimals(
            coerce::to_decimal(number),
            coerce::to_decimal(base),
        )));
    }
    own(number.to_f64().ln() / base.to_f64().ln())
}

/// The quotient of two rounded logarithms, but for the bases that have one of their own.
fn of_decimals(number: Decimal128, base: Decimal128) -> Decimal128 {
    if base == Decimal128::from(10) {
        return decimal::through_binary(number, decimal::log10);
    }
    if base == Decimal128::from(2) {
        let two = decimal::ln(Wide::from(2));
        return decimal::through_binary(number, |value| decimal::ln(value) / two);
    }
    decimal::through_binary(number, decimal::ln) / decimal::through_binary(base, decimal::ln)
}
