//! `$allElementsTrue`: whether no element is false.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let array = super::array(&arguments, 0, 17040)?;
    own(array_elements(array).all(|element| coerce::is_true(Some(element.value()))))
}
