//! `$tsIncrement`: the counter of a timestamp.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::RawBsonRef;
use error::Code;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    match arguments.get(0) {
        value if coerce::is_nullish(value) => null(),
        Some(RawBsonRef::Timestamp(timestamp)) => own(i64::from(timestamp.increment)),
        other => Err(Code::location(5687302).error(format!(
            " Argument to {} must be a timestamp, but is {}",
            arguments.name,
            coerce::type_name(other)
        ))),
    }
}
