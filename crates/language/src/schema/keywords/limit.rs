//! `minimum`, `maximum` and their exclusive forms.

use super::{Given, Keyword, Parsed};
use crate::query::operators::comparison::{Comparison, compare};
use crate::report::Report;
use crate::schema::{Rule, malformed, wrong_type};
use bson::{RawBson, RawBsonRef};
use error::Result;
use value::element::get;
use value::{Element, Number};

pub const EXCLUSIVE_MAXIMUM: Keyword = Keyword {
    name: "exclusiveMaximum",
    help: "Whether the maximum itself is too much.",
    parse: |given| exclusive(given, "maximum"),
};
pub const EXCLUSIVE_MINIMUM: Keyword = Keyword {
    name: "exclusiveMinimum",
    help: "Whether the minimum itself is too little.",
    parse: |given| exclusive(given, "minimum"),
};
pub const MAXIMUM: Keyword = Keyword {
    name: "maximum",
    help: "The largest number.",
    parse: |given| limit(given, "exclusiveMaximum", Comparison::Lte, Comparison::Lt),
};
pub const MINIMUM: Keyword = Keyword {
    name: "minimum",
    help: "The smallest number.",
    parse: |given| limit(given, "exclusiveMinimum", Comparison::Gte, Comparison::Gt),
};

/// A number must stand in this relation to the limit, as `$lte` and its kin have it.
#[derive(Debug)]
struct Limit {
    comparison: Comparison,
    limit: RawBson,
}

/// The exclusive form only modifies the limit, which reads it.
fn exclusive(given: &Given<'_>, limit: &str) -> Result<Parsed> {
    if get(given.siblings, limit).is_none() {
        let name = given.name();
        return Err(malformed(limit, &format!("must be a present if {name} is present")));
    }
    match given.element.value() {
        RawBsonRef::Boolean(_) => Ok(None),
        _ => Err(wrong_type(given.name(), "must be a boolean")),
    }
}

fn limit(
    given: &Given<'_>,
    modifier: &str,
    inclusive: Comparison,
    exclusive: Comparison,
) -> Result<Parsed> {
    let is_exclusive = get(given.siblings, modifier)
        .is_some_and(|element| element.value() == RawBsonRef::Boolean(true));
    let comparison = if is_exclusive { exclusive } else { inclusive };
    Ok(Some(Box::new(Limit { comparison, limit: given.number()?.to_value() })))
}

impl Rule for Limit {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let is_number = Number::from_value(value.value()).is_some();
        Ok(!is_number || compare(self.comparison, Some(value), &self.limit, None))
    }

    fn modifier(&self) -> Option<&'static str> {
        match self.comparison {
            Comparison::Gt => Some("exclusiveMinimum"),
            Comparison::Lt => Some("exclusiveMaximum"),
            _ => None,
        }
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.reason("comparison failed");
        report.considered("consideredValue", value);
    }
}
