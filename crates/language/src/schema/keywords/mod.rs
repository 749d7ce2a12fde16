//! The keywords of `$jsonSchema`, and their table.

mod additional_items;
mod additional_properties;
mod count;
mod dependencies;
mod r#enum;
mod fields;
mod items;
mod limit;
mod logic;
mod multiple_of;
mod pattern;
mod pattern_properties;
mod properties;
mod required;
mod text;
mod r#type;
mod unique_items;
mod unordered;

use super::{Rule, Schema, wrong_type};
use crate::interrupt;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use rustc_hash::FxHashSet;
use value::element::array_elements;
use value::{Element, Number, Path};

/// `None` for what demands nothing by itself.
pub type Parsed = Option<Box<dyn Rule>>;

/// A row of the table.
pub struct Keyword {
    pub name: &'static str,
    pub help: &'static str,
    pub parse: fn(&Given<'_>) -> Result<Parsed>,
}

/// A keyword where it stands.
pub struct Given<'a> {
    pub element: Element<'a>,
    /// The schema it stands in.
    pub siblings: &'a RawDocument,
    pub depth: usize,
    /// Whether that schema describes whole documents.
    pub whole: bool,
}

pub const KEYWORDS: &[Keyword] = &[
    additional_items::ROW,
    additional_properties::ROW,
    logic::ALL_OF,
    logic::ANY_OF,
    r#type::BSON_TYPE,
    dependencies::ROW,
    text::DESCRIPTION,
    r#enum::ROW,
    limit::EXCLUSIVE_MAXIMUM,
    limit::EXCLUSIVE_MINIMUM,
    items::ROW,
    count::MAX_ITEMS,
    count::MAX_LENGTH,
    count::MAX_PROPERTIES,
    limit::MAXIMUM,
    count::MIN_ITEMS,
    count::MIN_LENGTH,
    count::MIN_PROPERTIES,
    limit::MINIMUM,
    multiple_of::ROW,
    logic::NOT,
    logic::ONE_OF,
    pattern::ROW,
    pattern_properties::ROW,
    properties::ROW,
    required::ROW,
    text::TITLE,
    r#type::TYPE,
    unique_items::ROW,
];

/// The keywords in the order in which MongoDB reads them: the error of the first is told.
const READ: &[&str] = &[
    "type",
    "bsonType",
    "pattern",
    "maxLength",
    "minLength",
    "multipleOf",
    "exclusiveMaximum",
    "maximum",
    "exclusiveMinimum",
    "minimum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "additionalItems",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "enum",
];

/// The keywords in the order in which MongoDB explains what is not satisfied.
const EXPLAINED: &[&str] = &[
    "pattern",
    "maxLength",
    "minLength",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "additionalItems",
    "properties",
    "additionalProperties",
    "patternProperties",
    "required",
    "minProperties",
    "maxProperties",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "enum",
    "type",
    "bsonType",
];

pub fn as_read() -> impl Iterator<Item = &'static Keyword> {
    READ.iter().filter_map(|name| find(name))
}

/// Where among all keywords one is explained.
pub fn place(name: &str) -> usize {
    EXPLAINED.iter().position(|known| *known == name).unwrap_or(EXPLAINED.len())
}

pub fn find(name: &str) -> Option<&'static Keyword> {
    let row = KEYWORDS.binary_search_by_key(&name, |keyword| keyword.name).ok()?;
    KEYWORDS.get(row)
}

impl<'a> Given<'a> {
    fn name(&self) -> &'a str {
        self.element.key
    }

    /// A schema of something inside the value.
    fn sub_schema(&self, schema: &RawDocument) -> Result<Schema> {
        Schema::parse_at(schema, self.depth + 1, false)
    }

    /// Another schema of the value itself.
    fn same_schema(&self, schema: &RawDocument) -> Result<Schema> {
        Schema::parse_at(schema, self.depth + 1, self.whole)
    }

    /// The value, which must be a document.
    fn object(&self) -> Result<&'a RawDocument> {
        match self.element.value() {
            RawBsonRef::Document(document) => Ok(document),
            _ => Err(wrong_type(self.name(), "must be an object")),
        }
    }

    /// The value, which must be a number.
    fn number(&self) -> Result<Number> {
        Number::from_value(self.element.value())
            .ok_or_else(|| wrong_type(self.name(), "must be a number"))
    }

    /// The value, which must be a whole number from 0 on.
    fn natural(&self) -> Result<i64> {
        let Some(number) = Number::from_value(self.element.value()) else {
            let shown = crate::describe::element(self.element);
            return Err(Code::FailedToParse.error(format!("Expected a number in: {shown}")));
        };
        number.to_i64_exact().filter(|number| *number >= 0).ok_or_else(|| {
            let shown = crate::describe::element(self.element);
            Code::FailedToParse.error(if number.is_negative() {
                format!("Expected a non-negative number in: {shown}")
            } else {
                format!("Expected an integer: {shown}")
            })
        })
    }

    /// The schema under a name, which must be a document.
    fn schema_of(&self, element: Element<'_>) -> Result<Schema> {
        match element.value() {
            RawBsonRef::Document(schema) => self.sub_schema(schema),
            _ => {
                let must = format!("must hold only objects, but '{}' is none", element.key);
                Err(wrong_type(self.name(), &must))
            }
        }
    }

    /// The value, which must be an array of different strings, at least one.
    fn names(&self, element: Element<'_>) -> Result<Vec<Path>> {
        let RawBsonRef::Array(array) = element.value() else {
            return Err(wrong_type(self.name(), "must be an array"));
        };
        let mut names = Vec::new();
        let mut seen = FxHashSet::default();
        for item in array_elements(array).values() {
            interrupt::check()?;
            let RawBsonRef::String(name) = item else {
                return Err(wrong_type(self.name(), "must hold only strings"));
            };
            if !seen.insert(name) {
                return Err(super::malformed(self.name(), &format!("has a duplicate: {name}")));
            }
            names.push(Path::new(name));
        }
        if names.is_empty() {
            return Err(super::malformed(self.name(), "cannot be an empty array"));
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_so_that_they_are_found() {
        assert!(KEYWORDS.is_sorted_by_key(|keyword| keyword.name));
    }

    #[test]
    fn every_keyword_is_read() {
        let labels = ["description", "title"];
        for keyword in KEYWORDS {
            let is_label = labels.contains(&keyword.name);
            for order in [READ, EXPLAINED] {
                let is_read = order.contains(&keyword.name);
                assert!(is_read || is_label, "{} is not read", keyword.name);
            }
        }
        assert_eq!(as_read().count(), EXPLAINED.len());
    }
}
