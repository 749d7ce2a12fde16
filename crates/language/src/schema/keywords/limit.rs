//! `minimum`, `maximum` and their exclusive forms.

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, malformed, wrong_type};
use bson::RawBsonRef;
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
    parse: |given| limit(given, Side::Maximum, "exclusiveMaximum"),
};
pub const MINIMUM: Keyword = Keyword {
    name: "minimum",
    help: "The smallest number.",
    parse: |given| limit(given, Side::Minimum, "exclusiveMinimum"),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Minimum,
    Maximum,
}

#[derive(Debug)]
struct Limit {
    side: Side,
    limit: Number,
    exclusive: bool,
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

fn limit(given: &Given<'_>, side: Side, exclusive: &str) -> Result<Parsed> {
    let exclusive = get(given.siblings, exclusive)
        .is_some_and(|element| element.value() == RawBsonRef::Boolean(true));
    Ok(Some(Box::new(Limit { side, limit: given.number()?, exclusive })))
}

impl Rule for Limit {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let Some(number) = Number::from_value(value.value()) else { return Ok(true) };
        let order = number.compare(self.limit);
        Ok(match self.side {
            Side::Minimum => order.is_gt() || order.is_eq() && !self.exclusive,
            Side::Maximum => order.is_lt() || order.is_eq() && !self.exclusive,
        })
    }

    fn modifier(&self) -> Option<&'static str> {
        self.exclusive.then_some(match self.side {
            Side::Minimum => "exclusiveMinimum",
            Side::Maximum => "exclusiveMaximum",
        })
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) -> Result<()> {
        report.reason("comparison failed");
        report.considered("consideredValue", value);
        Ok(())
    }
}
