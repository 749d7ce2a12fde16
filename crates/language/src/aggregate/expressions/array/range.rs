//! `$range`: integers from one to another.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, VALUE_BYTES_MAX};
use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Result};
use value::ArrayWriter;

/// What an array and an element of it are taken to need, as MongoDB counts.
const ARRAY_BYTES: u64 = 24;
const ELEMENT_BYTES: u64 = 16;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let start = integer(&arguments, 0, "starting", 34443, 34444)?;
    let end = integer(&arguments, 1, "ending", 34445, 34446)?;
    let step = if arguments.given(2) { integer(&arguments, 2, "step", 34447, 34448)? } else { 1 };
    if step == 0 {
        return Err(Code::location(34449).error("$range requires a non-zero step value"));
    }
    let (start, end, step) = (i64::from(start), i64::from(end), i64::from(step));
    let steps = (end - start) / step;
    let length = if steps >= 0 { 1 + steps.unsigned_abs() } else { 0 };
    let bytes = ARRAY_BYTES + length * ELEMENT_BYTES;
    if bytes >= VALUE_BYTES_MAX as u64 {
        return Err(Code::ExceededMemoryLimit.error(format!(
            "$range would use too much memory ({bytes} bytes) and cannot spill to disk. Memory limit: {VALUE_BYTES_MAX} bytes"
        )));
    }
    let mut out = ArrayWriter::new();
    let mut current = start;
    while if step > 0 { current < end } else { current > end } {
        out.push(RawBsonRef::Int32(current as i32));
        current += step;
        interrupt::check()?;
    }
    own(out.finish())
}

fn integer(
    arguments: &Arguments<'_, '_>,
    at: usize,
    what: &str,
    not_numeric: i32,
    not_integral: i32,
) -> Result<i32> {
    let numeric = format!("$range requires a numeric {what} value, found value of type");
    let article = if what == "ending" { "an" } else { "a" };
    let integral = format!(
        "$range requires {article} {what} value that can be represented as a 32-bit integer, found value"
    );
    arguments.int32(at, (not_numeric, &numeric), (not_integral, &integral))
}
