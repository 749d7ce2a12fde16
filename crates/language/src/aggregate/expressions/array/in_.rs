//! `$in`: whether an array has an element.

use super::array;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::interrupt;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let array = array(&arguments, 1, 40081, "$in requires an array as a second argument, found: ")?;
    let wanted = arguments.get(0);
    for element in array_elements(array) {
        interrupt::check()?;
        if coerce::compare(Some(element.value()), wanted, arguments.collator).is_eq() {
            return own(true);
        }
    }
    own(false)
}
