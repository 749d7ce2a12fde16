//! `required`

use super::{Given, Keyword, Parsed};
use crate::schema::Rule;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::{DocumentWriter, Element};

pub const ROW: Keyword = Keyword { name: "required", help: "Fields that must be there.", parse };

#[derive(Debug)]
struct Required(Vec<String>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    Ok(Some(Box::new(Required(given.names(given.element)?))))
}

/// Those of the names that a document does not have, in the order of names.
pub fn missing<'n>(names: &'n [String], document: Element<'_>) -> Vec<&'n str> {
    let mut missing: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| document.children().find_key(name).is_none())
        .collect();
    missing.sort_unstable();
    missing
}

pub fn explain_missing(names: &[String], document: Element<'_>, out: &mut DocumentWriter) {
    out.begin_array("missingProperties");
    for name in missing(names, document) {
        out.push(RawBsonRef::String(name));
    }
    out.end();
}

impl Rule for Required {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(value.kind != ElementType::EmbeddedDocument
            || self.0.iter().all(|name| value.children().find_key(name).is_some()))
    }

    /// It asks whether they are there, not what they are.
    fn fields(&self) -> Option<Vec<&str>> {
        Some(Vec::new())
    }

    fn explain(&self, value: Element<'_>, out: &mut DocumentWriter) -> Result<()> {
        explain_missing(&self.0, value, out);
        Ok(())
    }
}
