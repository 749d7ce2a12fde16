//! `$substrCP`: a part of a string, by code points.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::describe;
use error::{Code, Result};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let text = coerce::to_text(arguments.get(0))?;
    let start = integer(&arguments, 1, "starting index", 34450, 34451)?;
    let length = integer(&arguments, 2, "length", 34452, 34453)?;
    let Ok(length) = usize::try_from(length) else {
        return Err(Code::location(34454).error("$substrCP: length must be a nonnegative integer."));
    };
    let Ok(start) = usize::try_from(start) else {
        return Err(Code::location(34455)
            .error("$substrCP: the starting index must be nonnegative integer."));
    };
    own(text.chars().skip(start).take(length).collect::<String>())
}

fn integer(
    arguments: &Arguments<'_, '_>,
    at: usize,
    what: &str,
    not_numeric: i32,
    not_integral: i32,
) -> Result<i32> {
    let value = arguments.get(at);
    if !coerce::is_numeric(value) {
        return Err(Code::location(not_numeric).error(format!(
            "$substrCP: {what} must be a numeric type (is BSON type {})",
            coerce::type_name(value)
        )));
    }
    coerce::integral32(value).ok_or_else(|| {
        Code::location(not_integral).error(format!(
            "$substrCP: {what} cannot be represented as a 32-bit integral value: {}",
            value.map(describe::value).unwrap_or_default()
        ))
    })
}
