//! `$bitNot`: the bits turned over.

use crate::aggregate::expressions::arithmetic::unary;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::RawBson;
use error::Code;
use value::Number;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    unary(&arguments, |number| match number {
        Number::Int32(value) => Ok(RawBson::Int32(!value)),
        Number::Int64(value) => Ok(RawBson::Int64(!value)),
        other => Err(Code::TypeMismatch.error(format!(
            "$bitNot only supports int and long, not: {}.",
            coerce::type_name(Some(other.to_ref()))
        ))),
    })
}
