//! `$in`

use super::{Argument, FieldOperator, Regex};
use crate::interrupt;
use crate::query::{Predicate, parse};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::element::array_elements;
use value::order::compare_with;
use value::{Collator, Element};

pub const ROW: FieldOperator =
    FieldOperator { name: "$in", help: "Equal to one of these, or matched by one.", parse };

/// A set of values and patterns.
#[derive(Debug, Default, Clone)]
pub struct In {
    /// In order, each once.
    pub values: Vec<RawBson>,
    pub patterns: Vec<Regex>,
}

impl In {
    pub fn parse(argument: &Argument<'_>) -> Result<In> {
        let array = parse::array(argument.element)?;
        let mut list = In::default();
        for item in array_elements(array) {
            interrupt::check()?;
            if parse::holds_operators(item) {
                return Err(Code::BadValue.error("cannot nest $ under $in"));
            }
            match item.value() {
                RawBsonRef::RegularExpression(regex) => {
                    let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
                    list.patterns.push(Regex::new(pattern, options)?);
                }
                RawBsonRef::Undefined => {
                    let message = "InMatchExpression equality cannot be undefined";
                    return Err(Code::BadValue.error(message));
                }
                value => list.values.push(value::value::to_owned(value)),
            }
        }
        let collator = argument.scope.context.collator.as_deref();
        let order = |a: &RawBson, b: &RawBson| {
            compare_with(a.as_raw_bson_ref(), b.as_raw_bson_ref(), collator)
        };
        list.values = interrupt::sort(list.values, order)?;
        list.values.dedup_by(|a, b| order(a, b).is_eq());
        Ok(list)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty()
    }

    /// Whether a missing value is in it.
    pub fn has_null(&self) -> bool {
        let order =
            |value: &RawBson| value::order::compare(value.as_raw_bson_ref(), RawBsonRef::Null);
        self.values.binary_search_by(order).is_ok()
    }

    pub fn contains(&self, element: Element<'_>, collator: Option<&Collator>) -> Result<bool> {
        let value = element.value();
        let found = self
            .values
            .binary_search_by(|one| compare_with(one.as_raw_bson_ref(), value, collator))
            .is_ok();
        if found {
            return Ok(true);
        }
        for pattern in &self.patterns {
            if pattern.matches(element)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// One value is an equality, one pattern a match.
    fn simplified(mut self) -> Predicate {
        match (self.values.len(), self.patterns.len()) {
            (1, 0) => Predicate::Eq(self.values.remove(0)),
            (0, 1) => Predicate::Regex(self.patterns.remove(0)),
            _ => Predicate::In(self),
        }
    }
}

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(In::parse(argument)?.simplified())
}
