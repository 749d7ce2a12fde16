//! `properties`

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, Schema};
use bson::spec::ElementType;
use error::Result;
use value::{Element, elements};

pub const ROW: Keyword = Keyword { name: "properties", help: "A schema for each field.", parse };

#[derive(Debug)]
struct Properties(Vec<(String, Schema)>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let mut properties = Vec::new();
    for element in elements(given.object()?) {
        properties.push((element.key.to_owned(), given.schema_of(element)?));
    }
    Ok(Some(Box::new(Properties(properties))))
}

impl Properties {
    /// The fields that are there, each with its schema.
    fn fields_of<'a>(
        &'a self,
        value: Element<'a>,
    ) -> impl Iterator<Item = (&'a str, &'a Schema, Element<'a>)> {
        let is_document = value.kind == ElementType::EmbeddedDocument;
        self.0.iter().filter(move |_| is_document).filter_map(move |(name, schema)| {
            Some((name.as_str(), schema, value.children().find_key(name)?))
        })
    }
}

impl Rule for Properties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        for (_, schema, field) in self.fields_of(value) {
            if !schema.accepts(field)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fields(&self) -> Option<Vec<&str>> {
        Some(self.0.iter().map(|(name, _)| name.as_str()).collect())
    }

    fn is_repeated(&self) -> bool {
        false
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.out.begin_array("propertiesNotSatisfied");
        for (name, schema, field) in self.fields_of(value) {
            if schema.surely_accepts(field) {
                continue;
            }
            report.out.begin_next_document();
            report.out.append_str("propertyName", name);
            schema.label(report);
            schema.explain("details", field, report);
            report.out.end();
        }
        report.out.end();
    }
}
