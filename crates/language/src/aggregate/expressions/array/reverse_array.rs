//! `$reverseArray`: the elements backwards.

use super::array;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use value::ArrayWriter;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let words = "The argument to $reverseArray must be an array, but was of type: ";
    let elements: Vec<_> = array_elements(array(&arguments, 0, 34435, words)?).collect();
    let mut out = ArrayWriter::new();
    elements.into_iter().rev().for_each(|element| out.copy(element));
    own(out.finish())
}
