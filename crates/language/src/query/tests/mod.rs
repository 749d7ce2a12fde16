//! Each operator: ordinary, missing, null, wrong type with its code, nested and
//! array paths.

mod array;
mod comparison;
mod element;
mod evaluation;
mod logic;
mod whole;

use super::*;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, Regex, Timestamp, bson, doc, oid::ObjectId};

pub fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

pub fn filter(filter: &Document) -> Filter {
    Filter::parse(&raw(filter), &Context::new())
        .unwrap_or_else(|error| panic!("{filter} is refused: {error}"))
}

pub fn matches(by: Document, document: Document) -> bool {
    filter(&by).matches(&raw(&document)).unwrap()
}

/// Every filter against every document, with what is expected.
pub fn check(rows: &[(Document, &[(Document, bool)])]) {
    for (by, documents) in rows {
        let parsed = filter(by);
        for (document, expected) in *documents {
            let matched = parsed.matches(&raw(document)).unwrap();
            assert_eq!(matched, *expected, "{by} on {document}");
        }
    }
}

pub fn refused(rows: &[(Document, i32, &str)]) {
    for (by, code, message) in rows {
        let error = match Filter::parse(&raw(by), &Context::new()) {
            Ok(_) => panic!("{by} is accepted"),
            Err(error) => error,
        };
        assert_eq!(error.code().number(), *code, "{by}: {error}");
        assert!(error.message().contains(message), "{by}: {error}");
    }
}

pub fn regex(pattern: &str, options: &str) -> Bson {
    Bson::RegularExpression(Regex {
        pattern: pattern.to_owned().try_into().unwrap(),
        options: options.to_owned().try_into().unwrap(),
    })
}

pub fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().unwrap())
}

pub fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}
