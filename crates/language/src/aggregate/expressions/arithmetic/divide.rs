//! `$divide`: the quotient, always double or decimal.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let (first, second) = (arguments.get(0), arguments.get(1));
    let (Some(a), Some(b)) = (coerce::number(first), coerce::number(second)) else {
        if arguments.any_nullish() {
            return null();
        }
        return Err(Code::TypeMismatch.error(format!(
            "$divide only supports numeric types, not {} and {}",
            coerce::type_name(first),
            coerce::type_name(second)
        )));
    };
    if b.is_zero() {
        return Err(Code::BadValue.error("can't $divide by zero"));
    }
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let mut context = dec::Context::<dec::Decimal128>::default();
            own(decimal::value(context.div(coerce::to_decimal(a), coerce::to_decimal(b))))
        }
        _ => own(a.to_f64() / b.to_f64()),
    }
}
