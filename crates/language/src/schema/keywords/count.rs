//! `minItems`, `maxItems`, `minLength`, `maxLength`, `minProperties`,
//! `maxProperties`: bounds on how many there are.

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::Rule;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use value::Element;

pub const MAX_ITEMS: Keyword = Keyword {
    name: "maxItems",
    help: "The most elements of an array.",
    parse: |given| count(given, Of::Items, End::Most),
};
pub const MAX_LENGTH: Keyword = Keyword {
    name: "maxLength",
    help: "The most characters of a string.",
    parse: |given| count(given, Of::Characters, End::Most),
};
pub const MAX_PROPERTIES: Keyword = Keyword {
    name: "maxProperties",
    help: "The most fields of a document.",
    parse: |given| count(given, Of::Properties, End::Most),
};
pub const MIN_ITEMS: Keyword = Keyword {
    name: "minItems",
    help: "The fewest elements of an array.",
    parse: |given| count(given, Of::Items, End::Least),
};
pub const MIN_LENGTH: Keyword = Keyword {
    name: "minLength",
    help: "The fewest characters of a string.",
    parse: |given| count(given, Of::Characters, End::Least),
};
pub const MIN_PROPERTIES: Keyword = Keyword {
    name: "minProperties",
    help: "The fewest fields of a document.",
    parse: |given| count(given, Of::Properties, End::Least),
};

#[derive(Debug, Clone, Copy)]
enum Of {
    Items,
    Characters,
    Properties,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Least,
    Most,
}

#[derive(Debug)]
struct Count {
    of: Of,
    end: End,
    bound: i64,
}

fn count(given: &Given<'_>, of: Of, end: End) -> Result<Parsed> {
    Ok(Some(Box::new(Count { of, end, bound: given.natural()? })))
}

impl Of {
    /// How many there are, if the value is one that has any.
    fn count(self, value: Element<'_>) -> Option<usize> {
        match (self, value.kind) {
            (Of::Items, ElementType::Array) | (Of::Properties, ElementType::EmbeddedDocument) => {
                Some(value.children().count())
            }
            (Of::Characters, ElementType::String) => match value.value() {
                RawBsonRef::String(text) => Some(text.chars().count()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Rule for Count {
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        Ok(self.of.count(value).is_none_or(|count| match self.end {
            End::Least => count as i64 >= self.bound,
            End::Most => count as i64 <= self.bound,
        }))
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        let count = self.of.count(value).unwrap_or(0) as i32;
        match self.of {
            Of::Items => {
                report.reason("array did not match specified length");
                report.considered("consideredValue", value);
                report.out.append_i32("numberOfItems", count);
            }
            Of::Characters => {
                report.reason("specified string length was not satisfied");
                report.considered("consideredValue", value);
            }
            Of::Properties => {
                report.reason("specified number of properties was not satisfied");
                report.out.append_i32("numberOfProperties", count);
            }
        }
    }
}
