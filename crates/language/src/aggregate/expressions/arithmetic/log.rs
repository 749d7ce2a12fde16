//! `$log`: the logarithm to a base.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use error::Code;
use value::Number;

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
    match (number, base) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let mut base = decimal::Wide::from(coerce::to_decimal(base));
            own(decimal::value(super::wide(coerce::to_decimal(number), |context, value| {
                context.ln(value);
                context.ln(&mut base);
                context.div(value, &base);
            })))
        }
        _ => own(number.to_f64().ln() / base.to_f64().ln()),
    }
}
