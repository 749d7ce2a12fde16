//! `$substrBytes` and `$substr`: a part of a string, by bytes.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use error::{Code, Result};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let text = coerce::to_text(arguments.get(0))?;
    let start = integer(&arguments, 1, "starting index", 16034)?;
    let length = integer(&arguments, 2, "length", 16035)?;
    let Ok(start) = usize::try_from(start) else {
        return Err(Code::location(50752).error(format!(
            "{}:  starting index must be non-negative (got: {start})",
            arguments.name
        )));
    };
    // A negative length is the rest.
    let length = usize::try_from(length).unwrap_or(text.len());
    if start >= text.len() {
        return own("");
    }
    let end = start.saturating_add(length).min(text.len());
    if !text.is_char_boundary(start) {
        return Err(Code::location(28656).error(format!(
            "{}:  Invalid range, starting index is a UTF-8 continuation byte.",
            arguments.name
        )));
    }
    match text.get(start..end) {
        Some(part) => own(part),
        None => Err(Code::location(28657).error(format!(
            "{}:  Invalid range, ending index is in the middle of a UTF-8 character.",
            arguments.name
        ))),
    }
}

fn integer(arguments: &Arguments<'_, '_>, at: usize, what: &str, code: i32) -> Result<i64> {
    match coerce::number(arguments.get(at)) {
        Some(number) => Ok(number.to_i64_saturated()),
        None => Err(Code::location(code).error(format!(
            "{}:  {what} must be a numeric type (is BSON type {})",
            arguments.name,
            coerce::type_name(arguments.get(at))
        ))),
    }
}
