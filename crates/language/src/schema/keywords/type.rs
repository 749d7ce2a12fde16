//! `type` and `bsonType`

use super::{Given, Keyword, Parsed};
use crate::Needs;
use crate::describe::type_name;
use crate::query::operators::Types;
use crate::report::Report;
use crate::schema::{Rule, malformed, wrong_type};
use bson::{RawArrayBuf, RawBsonRef};
use error::{Code, Result};
use rustc_hash::FxHashSet;
use value::Element;
use value::element::{array_elements, get};

pub const BSON_TYPE: Keyword =
    Keyword { name: "bsonType", help: "One of these BSON types.", parse: bson_type };
pub const TYPE: Keyword =
    Keyword { name: "type", help: "One of these JSON types.", parse: json_type };

#[derive(Debug)]
struct Type(Types);

fn bson_type(given: &Given<'_>) -> Result<Parsed> {
    let mut names = RawArrayBuf::new();
    for name in strings(given)? {
        names.push(name);
    }
    types(&names)
}

fn json_type(given: &Given<'_>) -> Result<Parsed> {
    if get(given.siblings, "bsonType").is_some() {
        let message = "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'";
        return Err(Code::FailedToParse.error(message));
    }
    let mut names = RawArrayBuf::new();
    for name in strings(given)? {
        names.push(match name {
            "array" | "null" | "number" | "object" | "string" => name,
            "boolean" => "bool",
            _ => return Err(Code::BadValue.error(format!("Unknown type name alias: {name}"))),
        });
    }
    types(&names)
}

fn types(names: &RawArrayBuf) -> Result<Parsed> {
    Ok(Some(Box::new(Type(Types::parse(RawBsonRef::Array(names), "")?))))
}

/// A string, or an array of different strings.
fn strings<'a>(given: &Given<'a>) -> Result<Vec<&'a str>> {
    let wrong = || wrong_type(given.name(), "must be either a string or an array of strings");
    let array = match given.element.value() {
        RawBsonRef::String(name) => return Ok(vec![not_integer(name)?]),
        RawBsonRef::Array(array) => array,
        _ => return Err(wrong()),
    };
    let mut names = Vec::new();
    let mut seen = FxHashSet::default();
    for item in array_elements(array).values() {
        let RawBsonRef::String(name) = item else { return Err(wrong()) };
        if !seen.insert(name) {
            return Err(malformed(given.name(), &format!("has duplicate value: {name}")));
        }
        names.push(not_integer(name)?);
    }
    if names.is_empty() {
        return Err(malformed(given.name(), "must name at least one type"));
    }
    Ok(names)
}

/// JSON Schema has a type "integer", which MongoDB does not take.
fn not_integer(name: &str) -> Result<&str> {
    match name {
        "integer" => {
            let message = "$jsonSchema type 'integer' is not currently supported.";
            Err(Code::FailedToParse.error(message))
        }
        name => Ok(name),
    }
}

impl Rule for Type {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(self.0.contains(value.kind))
    }

    /// Of a document nothing: it is always one.
    fn needs(&self, _: &mut Needs) {}

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.reason("type did not match");
        report.considered("consideredValue", value);
        report.out.append_str("consideredType", type_name(value.kind));
    }
}
