//! `$elemMatch`

use super::{Argument, FieldOperator};
use crate::query::Predicate;
use crate::query::parse::{self, Scope};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Element;

pub const ROW: FieldOperator = FieldOperator {
    name: "$elemMatch",
    help: "An element of the array satisfies all conditions at once.",
    parse,
};

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    condition(argument.element, argument.scope)
}

pub fn condition(element: Element<'_>, scope: &Scope<'_>) -> Result<Predicate> {
    match element.value() {
        RawBsonRef::Document(condition) => parse::element_condition(condition, &scope.inner()?),
        _ => Err(Code::BadValue.error("$elemMatch needs an Object")),
    }
}
