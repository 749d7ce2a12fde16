//! `$first`: the first element of an array.

use super::{array, element};
use crate::aggregate::expressions::node::null;
use crate::aggregate::expressions::{Arguments, Evaluated};
use value::element::array_len;

pub fn evaluate<'a>(mut arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let length =
        array_len(array(&arguments, 0, 28689, "$first's argument must be an array, but is ")?);
    if length == 0 {
        return Ok(None);
    }
    Ok(arguments.take(0).and_then(|array| element(&array, 0)))
}
