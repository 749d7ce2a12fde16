//! `$reverseArray`: the elements backwards.

use super::array;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, held};
use crate::interrupt;
use value::ArrayWriter;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let words = "The argument to $reverseArray must be an array, but was of type: ";
    let elements = array_elements(array(&arguments, 0, 34435, words)?);
    let (elements, _held) = held::collect(elements.map(Ok))?;
    let mut out = ArrayWriter::new();
    for element in elements.into_iter().rev() {
        interrupt::check()?;
        out.copy(element);
    }
    own(out.finish())
}
