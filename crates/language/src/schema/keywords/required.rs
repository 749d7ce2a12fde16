//! `required`

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::Rule;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::Element;

pub const ROW: Keyword = Keyword { name: "required", help: "Fields that must be there.", parse };

#[derive(Debug)]
struct Required(Vec<String>);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    Ok(Some(Box::new(Required(given.names(given.element)?))))
}

/// Those of the names that a document does not have.
pub fn missing<'n>(names: &'n [String], document: Element<'_>) -> Vec<&'n str> {
    let names = names.iter().map(String::as_str);
    names.filter(|name| document.children().find_key(name).is_none()).collect()
}

pub fn explain_missing(missing: &[&str], report: &mut Report) {
    report.out.begin_array("missingProperties");
    missing.iter().for_each(|name| report.out.push(RawBsonRef::String(name)));
    report.out.end();
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

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let mut missing = missing(&self.0, value);
        missing.sort_unstable();
        explain_missing(&missing, report);
    }
}
