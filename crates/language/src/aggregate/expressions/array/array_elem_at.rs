//! `$arrayElemAt`: the element at an index, from the end where it is negative.

use super::{array, element};
use crate::Extent;
use crate::aggregate::expressions::node::null;
use crate::aggregate::expressions::{Arguments, Evaluated, Node, coerce};
use error::Code;
use value::element::array_len;

/// Where the index is a constant, what is before it.
pub fn reach(operands: &[Option<Node>]) -> Option<Extent> {
    let at = operands.get(1)?.as_ref()?.integer()?;
    let distance = at.unsigned_abs() as usize;
    if at < 0 { Extent::last(distance) } else { Extent::first(distance + 1) }
}

pub fn evaluate<'a>(mut arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let length = array_len(array(
        &arguments,
        0,
        28689,
        "$arrayElemAt's first argument must be an array, but is ",
    )?);
    let index = arguments.get(1);
    if !coerce::is_numeric(index) {
        return Err(Code::location(28690).error(format!(
            "$arrayElemAt's second argument must be a numeric value, but is {}",
            coerce::type_name(index)
        )));
    }
    let Some(at) = coerce::integral32(index) else {
        return Err(Code::location(28691)
            .error("$arrayElemAt's second argument must be representable as a 32-bit integer"));
    };
    let at = if at < 0 { length as i64 + i64::from(at) } else { at.into() };
    let Ok(at) = usize::try_from(at) else { return Ok(None) };
    Ok(arguments.take(0).and_then(|array| element(&array, at)))
}
