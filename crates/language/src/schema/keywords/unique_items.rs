//! `uniqueItems`

use super::{Given, Keyword, Parsed, unordered};
use crate::interrupt;
use crate::report::Report;
use crate::schema::{Rule, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use rustc_hash::FxHashSet;
use value::Element;

pub const ROW: Keyword =
    Keyword { name: "uniqueItems", help: "Whether no two elements are equal.", parse };

#[derive(Debug)]
struct UniqueItems;

fn parse(given: &Given<'_>) -> Result<Parsed> {
    match given.element.value() {
        RawBsonRef::Boolean(true) => Ok(Some(Box::new(UniqueItems))),
        RawBsonRef::Boolean(false) => Ok(None),
        _ => Err(wrong_type(given.name(), "must be a boolean")),
    }
}

fn duplicate(value: Element<'_>) -> Result<Option<Element<'_>>> {
    if value.kind != ElementType::Array {
        return Ok(None);
    }
    let mut seen = FxHashSet::default();
    for item in value.children() {
        interrupt::check_sized(item.bytes.len())?;
        if !seen.insert(unordered::key(item)) {
            return Ok(Some(item));
        }
    }
    Ok(None)
}

impl Rule for UniqueItems {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(duplicate(value)?.is_none())
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.reason("found a duplicate item");
        report.considered("consideredValue", value);
        if let Ok(Some(item)) = duplicate(value) {
            report.considered("duplicatedValue", item);
        }
    }
}
