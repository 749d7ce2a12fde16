//! The options of a stage, read one after the other. Null stands for an option
//! that is not given; a wrong type, an option that is unknown, given twice or
//! lacking has a code of its own, the same in every stage that is read so.

use crate::aggregate::expressions::coerce;
use bson::{RawArray, RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::element::{Element, elements};

/// Where an option stands, for messages: `$merge`, `$densify.range`.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    pub path: &'static str,
    pub document: &'a RawDocument,
}

impl<'a> Options<'a> {
    pub fn new(path: &'static str, document: &'a RawDocument) -> Options<'a> {
        Options { path, document }
    }

    /// Each option once.
    pub fn each(self, mut read: impl FnMut(Element<'a>) -> Result<()>) -> Result<()> {
        for (at, element) in elements(self.document).enumerate() {
            let twice = |before: Element<'_>| before.key == element.key;
            if elements(self.document).take(at).any(twice) {
                return Err(Code::location(40413).error(format!(
                    "BSON field '{}.{}' is a duplicate field",
                    self.path, element.key
                )));
            }
            read(element)?;
        }
        Ok(())
    }

    pub fn string(self, element: Element<'a>) -> Result<Option<&'a str>> {
        match element.value() {
            RawBsonRef::String(text) => Ok(Some(text)),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            other => Err(self.wrong(element.key, "string", other)),
        }
    }

    pub fn object(self, element: Element<'a>) -> Result<Option<&'a RawDocument>> {
        match element.value() {
            RawBsonRef::Document(document) => Ok(Some(document)),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            other => Err(self.wrong(element.key, "object", other)),
        }
    }

    pub fn array(self, element: Element<'a>) -> Result<Option<&'a RawArray>> {
        match element.value() {
            RawBsonRef::Array(array) => Ok(Some(array)),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            other => Err(self.wrong(element.key, "array", other)),
        }
    }

    pub fn wrong(self, name: &str, expected: &str, value: RawBsonRef<'_>) -> Error {
        Code::TypeMismatch.error(format!(
            "BSON field '{}.{name}' is the wrong type '{}', expected type '{expected}'",
            self.path,
            coerce::type_name(Some(value))
        ))
    }

    pub fn unknown(self, name: &str) -> Error {
        Code::location(40415)
            .error(format!("BSON field '{}.{name}' is an unknown field.", self.path))
    }

    pub fn missing(self, name: &str) -> Error {
        Code::location(40414)
            .error(format!("BSON field '{}.{name}' is missing but a required field", self.path))
    }
}

/// The pipeline of a stage: an array of documents.
pub fn pipeline(value: RawBsonRef<'_>) -> Result<&RawArray> {
    match value {
        RawBsonRef::Array(stages) => Ok(stages),
        _ => Err(Code::TypeMismatch.error("'pipeline' option must be specified as an array")),
    }
}
