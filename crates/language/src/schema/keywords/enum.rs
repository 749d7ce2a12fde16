//! `enum`

use super::{Given, Keyword, Parsed, unordered};
use crate::interrupt;
use crate::report::Report;
use crate::schema::{Rule, malformed, wrong_type};
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::Element;
use value::element::array_elements;

pub const ROW: Keyword = Keyword { name: "enum", help: "One of these values.", parse };

#[derive(Debug)]
struct Enum {
    /// The keys of the values, in order.
    keys: Vec<Vec<u8>>,
    /// Whether it is asked of whole documents and names none.
    never: bool,
}

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let RawBsonRef::Array(array) = given.element.value() else {
        return Err(wrong_type(given.name(), "must be an array"));
    };
    let mut keys = Vec::new();
    for item in array_elements(array) {
        interrupt::check_sized(item.bytes.len())?;
        keys.push(unordered::key(item));
    }
    if keys.is_empty() {
        return Err(malformed(given.name(), "cannot be an empty array"));
    }
    keys = interrupt::sort(keys, Vec::cmp)?;
    if keys.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(malformed(given.name(), "array cannot contain duplicate values"));
    }
    let is_document = |item: Element<'_>| item.kind == ElementType::EmbeddedDocument;
    let never = given.whole && !array_elements(array).any(is_document);
    Ok(Some(Box::new(Enum { keys, never })))
}

impl Rule for Enum {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(self.keys.binary_search(&unordered::key(value)).is_ok())
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        if self.never {
            return report.reason("expression always evaluates to false");
        }
        report.reason("value was not found in enum");
        report.considered("consideredValue", value);
    }
}
