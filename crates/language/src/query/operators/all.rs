//! `$all`

use super::{Argument, FieldOperator, In, Regex, comparison, elem_match};
use crate::interrupt;
use crate::query::{Predicate, parse};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::{Code, Result};
use value::element::array_elements;
use value::{Element, elements};

pub const ROW: FieldOperator =
    FieldOperator { name: "$all", help: "Holds every one of these.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    let array = parse::array(argument.element)?;
    let by_element = array_elements(array).next().is_some_and(is_elem_match);
    let mut all = Vec::new();
    for item in array_elements(array) {
        interrupt::check()?;
        all.push(if by_element { element_match(item, argument)? } else { plain(item)? });
    }
    // No document holds "every one of none".
    if all.is_empty() {
        return Ok(Predicate::In(In::default()));
    }
    Ok(Predicate::And(all))
}

fn plain(item: Element<'_>) -> Result<Predicate> {
    let first = item.as_document().and_then(|document| elements(document).next());
    if item.kind == ElementType::EmbeddedDocument
        && first.is_some_and(|first| super::takes_path(first.key))
    {
        return Err(Code::BadValue.error("no $ expressions in $all"));
    }
    Ok(match item.value() {
        RawBsonRef::RegularExpression(regex) => {
            Predicate::Regex(Regex::new(regex.pattern.as_str(), regex.options.as_str())?)
        }
        value => Predicate::Eq(comparison::operand(value)?),
    })
}

fn element_match(item: Element<'_>, argument: &Argument<'_>) -> Result<Predicate> {
    let condition = item.as_document().filter(|_| is_elem_match(item));
    match condition.and_then(|condition| elements(condition).next()) {
        Some(inner) => elem_match::condition(inner, argument.scope),
        None => Err(Code::BadValue.error("$all/$elemMatch has to be consistent")),
    }
}

fn is_elem_match(item: Element<'_>) -> bool {
    parse::holds_operators(item)
        && item.children().next().is_some_and(|first| first.key == "$elemMatch")
}
