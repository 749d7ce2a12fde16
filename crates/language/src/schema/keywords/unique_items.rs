//! `uniqueItems`

use super::{Given, Keyword, Parsed, unordered};
use crate::schema::{Rule, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use rustc_hash::FxHashSet;
use value::{DocumentWriter, Element};

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

fn duplicate(value: Element<'_>) -> Option<Element<'_>> {
    if value.kind != ElementType::Array {
        return None;
    }
    let mut seen = FxHashSet::default();
    value.children().find(|item| !seen.insert(unordered::key(*item)))
}

impl Rule for UniqueItems {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(duplicate(value).is_none())
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        out.append_str("reason", "found a duplicate item");
        out.copy_as("consideredValue", value);
        if let Some(item) = duplicate(value) {
            out.copy_as("duplicatedValue", item);
        }
        Ok(())
    }
}
