//! `$size`: how many elements an array has.

use super::array;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated};
use value::element::array_len;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let words = "The argument to $size must be an array, but was of type: ";
    own(array_len(array(&arguments, 0, 17124, words)?) as i32)
}
