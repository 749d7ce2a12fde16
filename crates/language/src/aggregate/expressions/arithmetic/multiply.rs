//! `$multiply`: the product.

use super::add::narrowed;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, decimal};
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut product = Number::Int32(1);
    let mut ints = true;
    for value in arguments.iter() {
        if coerce::is_nullish(value) {
            return null();
        }
        let Some(number) = coerce::number(value) else {
            return Err(Code::TypeMismatch.error(format!(
                "$multiply only supports numeric types, not {}",
                coerce::type_name(value)
            )));
        };
        ints &= matches!(number, Number::Int32(_));
        product = multiply(product, number);
    }
    own(narrowed(product, ints).to_value())
}

/// The product of two numbers, of the wider type; int64 overflows into double.
fn multiply(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Decimal(_), _) | (_, Number::Decimal(_)) => {
            let mut context = dec::Context::<dec::Decimal128>::default();
            let product = context.mul(coerce::to_decimal(a), coerce::to_decimal(b));
            Number::Decimal(decimal::encode(product))
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => Number::Double(a.to_f64() * b.to_f64()),
        _ => a.checked_multiply(b).unwrap_or_else(|| Number::Double(a.to_f64() * b.to_f64())),
    }
}
