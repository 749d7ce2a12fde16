//! `additionalItems`

use super::{Given, Keyword, Parsed};
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::element::{array_len, get};
use value::{DocumentWriter, Element};

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
    fn failing<'a>(&self, value: Element<'a>) -> Result<Option<(usize, Element<'a>)>> {
        if value.kind != ElementType::Array {
            return Ok(None);
        }
        for (index, item) in value.children().items().enumerate().skip(self.from) {
            match &self.schema {
                Some(schema) if schema.accepts(item)? => {}
                _ => return Ok(Some((index, item))),
            }
        }
        Ok(None)
    }
}

impl Rule for AdditionalItems {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(self.failing(value)?.is_none())
    }

    fn is_repeated(&self) -> bool {
        self.schema.is_none()
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        let Some(schema) = &self.schema else {
            out.append_str("reason", "found additional items");
            out.begin_array("additionalItems");
            value.children().items().skip(self.from).for_each(|item| out.copy_next(item));
            out.end();
            return Ok(());
        };
        if let Some((index, item)) = self.failing(value)? {
            let reason = "At least one additional item did not match the sub-schema";
            out.append_str("reason", reason);
            out.append_i32("itemIndex", index as i32);
            schema.label(out);
            schema.explain("details", item, out)?;
        }
        Ok(())
    }
}
