//! `additionalProperties`

use super::{Given, Keyword, Parsed};
use crate::regex;
use crate::report::Report;
use crate::schema::{Rule, Schema, wrong_type};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::Result;
use rustc_hash::FxHashSet;
use value::element::get;
use value::{Element, elements};

pub const ROW: Keyword = Keyword {
    name: "additionalProperties",
    help: "Whether other fields may be there, or a schema for them.",
    parse,
};

#[derive(Debug)]
struct AdditionalProperties {
    names: FxHashSet<String>,
    patterns: Vec<pcre2::bytes::Regex>,
    /// What other fields must satisfy; `None` if there may be none.
    schema: Option<Schema>,
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let schema = match given.element.value() {
        RawBsonRef::Boolean(true) => return Ok(None),
        RawBsonRef::Boolean(false) => None,
        RawBsonRef::Document(schema) => Some(given.sub_schema(schema)?),
        _ => return Err(wrong_type(given.name(), "must be an object or a boolean")),
    };
    let mut patterns = Vec::new();
    for element in keys(given.siblings, "patternProperties") {
        patterns.push(regex::compile(element, "", "patternProperties")?);
    }
    let names = keys(given.siblings, "properties").map(str::to_owned).collect();
    Ok(Some(Box::new(AdditionalProperties { names, patterns, schema })))
}

/// The keys of a document that stands in a schema.
fn keys<'a>(schema: &'a RawDocument, name: &str) -> impl Iterator<Item = &'a str> {
    let inner = get(schema, name).and_then(|element| element.as_document());
    inner.into_iter().flat_map(elements).map(|element| element.key)
}

impl AdditionalProperties {
    fn is_additional(&self, field: Element<'_>) -> Result<bool> {
        if self.names.contains(field.key) {
            return Ok(false);
        }
        for pattern in &self.patterns {
            if regex::is_match(pattern, field.key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn accepts_field(&self, field: Element<'_>) -> Result<bool> {
        if !self.is_additional(field)? {
            return Ok(true);
        }
        self.schema.as_ref().map_or(Ok(false), |schema| schema.accepts(field))
    }
}

impl Rule for AdditionalProperties {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        if value.kind != ElementType::EmbeddedDocument {
            return Ok(true);
        }
        for field in value.children() {
            if !self.accepts_field(field)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_repeated(&self) -> bool {
        self.schema.is_none()
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let fails = |field: &Element<'_>| !self.accepts_field(*field).unwrap_or(false);
        let Some(schema) = &self.schema else {
            report.out.begin_array("additionalProperties");
            for field in value.children().filter(fails) {
                report.out.push(RawBsonRef::String(field.key));
            }
            report.out.end();
            return;
        };
        if let Some(field) = value.children().find(fails) {
            schema.label(report);
            report.reason("at least one additional property did not match the subschema");
            report.out.append_str("failingProperty", field.key);
            schema.explain("details", field, report);
        }
    }
}
