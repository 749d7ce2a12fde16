//! `$sigmoid`: the logistic function, 1 / (1 + e⁻ˣ).

use super::wide;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    match coerce::number(arguments.get(0)) {
        Some(Number::Decimal(value)) => {
            let one = decimal::Wide::from(1);
            own(decimal::value(wide(decimal::decode(value), |context, value| {
                context.neg(value);
                context.exp(value);
                context.add(value, &one);
                let mut quotient = one;
                context.div(&mut quotient, value);
                *value = quotient;
            })))
        }
        Some(number) => own(1.0 / (1.0 + (-number.to_f64()).exp())),
        None => Err(Code::TypeMismatch.error(format!(
            "$sigmoid only supports numeric types, not {}",
            coerce::type_name(arguments.get(0))
        ))),
    }
}
