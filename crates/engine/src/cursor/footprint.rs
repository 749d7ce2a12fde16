//! What an open cursor keeps in memory beside its rows, estimated from its command: filters,
//! projections and pipelines as they were parsed, and patterns as they were compiled.

use bson::{RawBsonRef, RawDocument};
use value::elements;

/// The cursor of the shortest command.
const CURSOR_BYTES: usize = 4 * 1024;

/// What is parsed takes so many times the bytes of its BSON.
const PARSED_TIMES: usize = 16;

/// A compiled pattern, with the machine code that it is matched by.
const PATTERN_BYTES: usize = 3 * 1024;

pub fn bytes(command: &RawDocument) -> usize {
    let parsed = PARSED_TIMES * command.as_bytes().len();
    CURSOR_BYTES + parsed + PATTERN_BYTES * patterns(command)
}

/// How many regular expressions a command holds.
fn patterns(document: &RawDocument) -> usize {
    let of_element = |element: value::Element<'_>| match element.value() {
        RawBsonRef::RegularExpression(_) => 1,
        RawBsonRef::String(_) if matches!(element.key, "$regex" | "regex" | "pattern") => 1,
        RawBsonRef::Document(inner) if element.key == "patternProperties" => {
            elements(inner).count() + patterns(inner)
        }
        _ => element.as_document().map_or(0, patterns),
    };
    elements(document).map(of_element).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn patterns_are_found_wherever_they_stand() {
        let regex =
            bson::Regex { pattern: bson::cstr!("a").into(), options: bson::cstr!("").into() };
        let regex = bson::RawBson::RegularExpression(regex);
        let command = rawdoc! {
            "find": "c",
            "filter": {
                "a": { "$nin": [regex.clone(), regex.clone()] },
                "b": { "$regex": "x" },
                "$jsonSchema": { "patternProperties": { "^a": {}, "^b": { "pattern": "c" } } },
            },
        };
        assert_eq!(patterns(&command), 6);
        assert!(bytes(&command) > 6 * PATTERN_BYTES);
    }
}
