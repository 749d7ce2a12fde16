//! `$mod`: the remainder, of the sign of the dividend.

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
        return Err(Code::location(16611).error(format!(
            "$mod only supports numeric types, not {} and {}",
            coerce::type_name(first),
            coerce::type_name(second)
        )));
    };
    let decimals = matches!(a, Number::Decimal(_)) || matches!(b, Number::Decimal(_));
    if b.is_zero() {
        let code = if decimals { 5733415 } else { 16610 };
        return Err(Code::location(code).error("can't $mod by zero"));
    }
    match (a, b) {
        _ if decimals => {
            own(decimal::value(decimal::remainder(coerce::to_decimal(a), coerce::to_decimal(b))))
        }
        (Number::Int32(a), Number::Int32(b)) => own(a.wrapping_rem(b)),
        (Number::Double(_), _) | (_, Number::Double(_)) => own(a.to_f64() % b.to_f64()),
        _ => own(a.to_i64_saturated().wrapping_rem(b.to_i64_saturated())),
    }
}
