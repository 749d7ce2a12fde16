//! `items`

use super::{Given, Keyword, Parsed};
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::element::array_elements;
use value::{DocumentWriter, Element};

pub const ROW: Keyword = Keyword {
    name: "items",
    help: "A schema for all elements, or one for each of the first ones.",
    parse,
};

#[derive(Debug)]
enum Items {
    All(Schema),
    Each(Vec<Schema>),
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let items = match given.element.value() {
        RawBsonRef::Document(schema) => Items::All(given.sub_schema(schema)?),
        RawBsonRef::Array(schemas) => {
            let schemas = array_elements(schemas).map(|schema| given.schema_of(schema));
            Items::Each(schemas.collect::<Result<_>>()?)
        }
        _ => return Err(wrong_type(given.name(), "must be an array or an object")),
    };
    Ok(Some(Box::new(items)))
}

impl Items {
    fn failing<'a>(&self, value: Element<'a>) -> Result<Option<(usize, &Schema, Element<'a>)>> {
        if value.kind != ElementType::Array {
            return Ok(None);
        }
        for (index, item) in value.children().items().enumerate() {
            let schema = match self {
                Items::All(schema) => schema,
                Items::Each(schemas) => match schemas.get(index) {
                    Some(schema) => schema,
                    None => break,
                },
            };
            if !schema.accepts(item)? {
                return Ok(Some((index, schema, item)));
            }
        }
        Ok(None)
    }
}

impl Rule for Items {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(self.failing(value)?.is_none())
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        if let Some((index, schema, item)) = self.failing(value)? {
            out.append_str("reason", "At least one item did not match the sub-schema");
            out.append_i32("itemIndex", index as i32);
            schema.label(out);
            schema.explain("details", item, out)?;
        }
        Ok(())
    }
}
