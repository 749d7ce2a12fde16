//! `$setIsSubset`: whether the second set has all of the first.

use super::{contains, sorted};
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated};
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let first = super::array(&arguments, 0, 17046)?;
    let second = sorted(super::array(&arguments, 1, 17042)?, arguments.collator);
    own(array_elements(first).all(|element| contains(&second, element.value(), arguments.collator)))
}
