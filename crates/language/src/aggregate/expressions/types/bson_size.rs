//! `$bsonSize`: the bytes of a document.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::RawBsonRef;
use error::Code;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    match arguments.get(0) {
        value if coerce::is_nullish(value) => null(),
        Some(RawBsonRef::Document(document)) => own(document.as_bytes().len() as i32),
        other => Err(Code::location(31393).error(format!(
            "$bsonSize requires a document input, found: {}",
            coerce::type_name(other)
        ))),
    }
}
