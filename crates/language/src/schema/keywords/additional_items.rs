//! `additionalItems`

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::Element;
use value::element::{array_len, get};

pub const ROW: Keyword = Keyword {
    name: "additionalItems",
    help: "Whether elements past those of `items` may be there, or a schema for them.",
    parse,
};

#[derive(Debug)]
struct AdditionalItems {
    /// How many elements have a schema of their own.
    from: usize,
    /// What the others must satisfy; `None` if there may be none.
    schema: Option<Schema>,
}

/// Only an array of schemas in `items` leaves elements over.
fn parse(given: &Given<'_>) -> Result<Parsed> {
    let schema = match given.element.value() {
        RawBsonRef::Boolean(true) => return Ok(None),
        RawBsonRef::Boolean(false) => None,
        RawBsonRef::Document(schema) => Some(given.sub_schema(schema)?),
        _ => return Err(wrong_type(given.name(), "must be either an object or a boolean")),
    };
    match get(given.siblings, "items").map(|items| items.value()) {
        Some(RawBsonRef::Array(items)) => {
            Ok(Some(Box::new(AdditionalItems { from: array_len(items), schema })))
        }
        _ => Ok(None),
    }
}

impl AdditionalItems {
    /// The additional elements, each with its place.
    fn items_of<'a>(&self, value: Element<'a>) -> impl Iterator<Item = (usize, Element<'a>)> {
        let children = (value.kind == ElementType::Array).then(|| value.children().items());
        children.into_iter().flatten().enumerate().skip(self.from)
    }
}

impl Rule for AdditionalItems {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        for (_, item) in self.items_of(value) {
            match &self.schema {
                Some(schema) if schema.accepts(item)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn is_repeated(&self) -> bool {
        self.schema.is_none()
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let Some(schema) = &self.schema else {
            report.reason("found additional items");
            let items: Vec<_> = self.items_of(value).map(|(_, item)| item).collect();
            report.considered_all("additionalItems", &items);
            return;
        };
        let failing = self.items_of(value).find(|(_, item)| !schema.surely_accepts(*item));
        if let Some((index, item)) = failing {
            schema.label(report);
            report.reason("At least one additional item did not match the sub-schema");
            report.out.append_i32("itemIndex", index as i32);
            schema.explain("details", item, report);
        }
    }
}
