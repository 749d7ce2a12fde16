//! `items`

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::Element;
use value::element::array_elements;

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
    /// The elements that have a schema, each with its place.
    fn items_of<'a>(
        &'a self,
        value: Element<'a>,
    ) -> impl Iterator<Item = (usize, &'a Schema, Element<'a>)> {
        let checked = match (value.kind, self) {
            (ElementType::Array, Items::All(_)) => usize::MAX,
            (ElementType::Array, Items::Each(schemas)) => schemas.len(),
            _ => 0,
        };
        let children = (checked > 0).then(|| value.children().items());
        let items = children.into_iter().flatten().take(checked).enumerate();
        items.filter_map(move |(index, item)| {
            let schema = match self {
                Items::All(schema) => schema,
                Items::Each(schemas) => schemas.get(index)?,
            };
            Some((index, schema, item))
        })
    }

    fn failing<'a>(
        &'a self,
        value: Element<'a>,
    ) -> impl Iterator<Item = (usize, &'a Schema, Element<'a>)> {
        self.items_of(value).filter(|(_, schema, item)| !schema.surely_accepts(*item))
    }
}

impl Rule for Items {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        for (_, schema, item) in self.items_of(value) {
            if !schema.accepts(item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_repeated(&self) -> bool {
        false
    }

    /// Of one schema for all elements, the first that fails is told; of one for
    /// each, all of them.
    fn explain(&self, value: Element<'_>, report: &mut Report) {
        if let Items::All(schema) = self {
            if let Some((index, _, item)) = self.failing(value).next() {
                schema.label(report);
                report.reason("At least one item did not match the sub-schema");
                report.out.append_i32("itemIndex", index as i32);
                schema.explain("details", item, report);
            }
            return;
        }
        report.out.begin_array("details");
        for (index, schema, item) in self.failing(value) {
            report.out.begin_next_document();
            report.out.append_i32("itemIndex", index as i32);
            schema.explain("details", item, report);
            report.out.end();
        }
        report.out.end();
    }
}
