//! `pattern`

use super::{Given, Keyword, Parsed};
use crate::regex;
use crate::report::Report;
use crate::schema::{Rule, wrong_type};
use bson::RawBsonRef;
use error::Result;
use value::Element;

pub const ROW: Keyword =
    Keyword { name: "pattern", help: "A string that the pattern matches.", parse };

#[derive(Debug)]
struct Pattern(pcre2::bytes::Regex);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    match given.element.value() {
        RawBsonRef::String(pattern) => {
            Ok(Some(Box::new(Pattern(regex::compile(pattern, "", "pattern")?))))
        }
        _ => Err(wrong_type(given.name(), "must be a string")),
    }
}

impl Rule for Pattern {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        match value.value() {
            RawBsonRef::String(text) => regex::is_match(&self.0, text),
            _ => Ok(true),
        }
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        match self.accepts(value) {
            Err(error) => report.failed("evaluate regular expression", &error),
            Ok(_) => report.reason("regular expression did not match"),
        }
        report.considered("consideredValue", value);
    }
}
