//! `$split`: the parts of a string between separators.

use super::text;
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use crate::interrupt;
use bson::RawBsonRef;
use error::Code;
use value::ArrayWriter;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let words = " requires an expression that evaluates to a string as a first argument, found: ";
    let input = text(&arguments, 0, 40085, words)?;
    let words = " requires an expression that evaluates to a string as a second argument, found: ";
    let separator = text(&arguments, 1, 10503900, words)?;
    if separator.is_empty() {
        return Err(Code::location(40087).error("$split requires a non-empty separator"));
    }
    let mut written = Held::default();
    let mut out = ArrayWriter::new();
    for part in input.split(separator) {
        out.push(RawBsonRef::String(part));
        written.write_array(&out)?;
        interrupt::check()?;
    }
    own(out.finish())
}
