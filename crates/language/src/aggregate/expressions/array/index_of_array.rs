//! `$indexOfArray`: where an element is first, -1 for nowhere.

use super::array;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node, coerce};
use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let array = array(
        &arguments,
        0,
        40090,
        "$indexOfArray requires an array as a first argument, found: ",
    )?;
    let start = bound(&arguments, 2, "starting index")?.unwrap_or(0);
    let end = bound(&arguments, 3, "ending index")?.unwrap_or(usize::MAX);
    let wanted = arguments.get(1);
    for (at, element) in array_elements(array).enumerate().take(end).skip(start) {
        interrupt::check()?;
        if coerce::compare(Some(element.value()), wanted, arguments.collator).is_eq() {
            return own(at as i32);
        }
    }
    own(-1)
}

fn bound(arguments: &Arguments<'_, '_>, at: usize, what: &str) -> Result<Option<usize>> {
    if !arguments.given(at) {
        return Ok(None);
    }
    let Some(number) = coerce::integral32(arguments.get(at)) else {
        return Err(Code::location(9711600).error(format!(
            "$indexOfArray requires an integral {what}, found a value of type: {}",
            coerce::type_name(arguments.get(at))
        )));
    };
    match usize::try_from(number) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Code::location(9711601)
            .error(format!("$indexOfArray requires a nonnegative {what}, found: {number}"))),
    }
}

/// A constant array must be one.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    match operands.first() {
        Some(Some(node)) if node.is_constant() => match node.constant() {
            Some(RawBsonRef::Array(_)) => Ok(None),
            value if coerce::is_nullish(value) => Ok(Some(Node::null())),
            other => Err(Code::location(50809).error(format!(
                "First operand of $indexOfArray must be an array. First argument is of type: {}",
                coerce::type_name(other)
            ))),
        },
        _ => Ok(None),
    }
}
