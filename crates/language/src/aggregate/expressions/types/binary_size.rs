//! `$binarySize`: the bytes of a string or binary.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::RawBsonRef;
use error::Code;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    match arguments.get(0) {
        value if coerce::is_nullish(value) => null(),
        Some(RawBsonRef::String(text)) => own(text.len() as i32),
        Some(RawBsonRef::Binary(binary)) => own(binary.bytes.len() as i32),
        other => Err(Code::location(51276).error(format!(
            "$binarySize requires a string or BinData argument, found: {}",
            coerce::type_name(other)
        ))),
    }
}
