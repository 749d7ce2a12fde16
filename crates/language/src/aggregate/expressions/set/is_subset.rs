//! `$setIsSubset`: whether the second set has all of the first.

use super::{sorted, wrong};
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, Node};
use bson::RawBsonRef;
use error::Result;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let first = super::array(&arguments, 0, 17046)?;
    let second = sorted(super::array(&arguments, 1, 17042)?, arguments.collator)?;
    for element in array_elements(first) {
        if !second.contains(element.value(), arguments.collator)? {
            return own(false);
        }
    }
    own(true)
}

/// A constant second set must be one.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    match operands.get(1) {
        Some(Some(node)) if node.is_constant() => match node.constant() {
            Some(RawBsonRef::Array(_)) => Ok(None),
            other => Err(wrong("$setIsSubset", other, 17311)),
        },
        _ => Ok(None),
    }
}
