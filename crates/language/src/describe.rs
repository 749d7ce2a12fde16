//! Values and types as error messages spell them.

use bson::RawBsonRef;
use bson::spec::ElementType;
use std::fmt::Write;
use value::{Element, elements};

/// Longer values are cut, so that a message never carries a whole document.
const DESCRIPTION_BYTES_MAX: usize = 256;

/// The name of a type, as `$type` spells it.
pub fn type_name(kind: ElementType) -> &'static str {
    match kind {
        ElementType::Array => "array",
        ElementType::Binary => "binData",
        ElementType::Boolean => "bool",
        ElementType::DateTime => "date",
        ElementType::DbPointer => "dbPointer",
        ElementType::Decimal128 => "decimal",
        ElementType::Double => "double",
        ElementType::EmbeddedDocument => "object",
        ElementType::Int32 => "int",
        ElementType::Int64 => "long",
        ElementType::JavaScriptCode => "javascript",
        ElementType::JavaScriptCodeWithScope => "javascriptWithScope",
        ElementType::MaxKey => "maxKey",
        ElementType::MinKey => "minKey",
        ElementType::Null => "null",
        ElementType::ObjectId => "objectId",
        ElementType::RegularExpression => "regex",
        ElementType::String => "string",
        ElementType::Symbol => "symbol",
        ElementType::Timestamp => "timestamp",
        ElementType::Undefined => "undefined",
    }
}

/// `key: value`.
pub fn element(element: Element<'_>) -> String {
    field(element.key, element.value())
}

/// `key: value`.
pub fn field(key: &str, value: RawBsonRef<'_>) -> String {
    let mut out = format!("{key}: ");
    write_value(&mut out, value);
    cut(out)
}

pub fn value(value: RawBsonRef<'_>) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    cut(out)
}

fn cut(mut text: String) -> String {
    if text.len() > DESCRIPTION_BYTES_MAX {
        text.truncate(text.floor_char_boundary(DESCRIPTION_BYTES_MAX));
        text.push_str("...");
    }
    text
}

/// Stops early once `out` is longer than will be shown.
fn write_value(out: &mut String, value: RawBsonRef<'_>) {
    if out.len() > DESCRIPTION_BYTES_MAX {
        return;
    }
    // Writing to a string cannot fail.
    let _ = match value {
        RawBsonRef::Array(array) => {
            let values = value::element::array_elements(array);
            write_list(out, "[", "]", values.map(|element| (None, element.value())));
            Ok(())
        }
        RawBsonRef::Document(document) => {
            let fields = elements(document);
            write_list(out, "{", "}", fields.map(|element| (Some(element.key), element.value())));
            Ok(())
        }
        RawBsonRef::Boolean(value) => write!(out, "{value}"),
        RawBsonRef::DateTime(date) => write!(out, "new Date({})", date.timestamp_millis()),
        RawBsonRef::Decimal128(number) => write!(out, "{number}"),
        RawBsonRef::Double(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            write!(out, "{number:.1}")
        }
        RawBsonRef::Double(number) => write!(out, "{number}"),
        RawBsonRef::Int32(number) => write!(out, "{number}"),
        RawBsonRef::Int64(number) => write!(out, "{number}"),
        RawBsonRef::JavaScriptCode(code) => write!(out, "{}", start(code)),
        RawBsonRef::JavaScriptCodeWithScope(code) => write!(out, "{}", start(code.code)),
        RawBsonRef::MaxKey => write!(out, "MaxKey"),
        RawBsonRef::MinKey => write!(out, "MinKey"),
        RawBsonRef::Null => write!(out, "null"),
        RawBsonRef::ObjectId(id) => write!(out, "ObjectId('{id}')"),
        RawBsonRef::RegularExpression(regex) => {
            write!(out, "/{}/{}", start(regex.pattern.as_str()), regex.options.as_str())
        }
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => write!(out, "\"{}\"", start(text)),
        RawBsonRef::Timestamp(stamp) => {
            write!(out, "Timestamp({}, {})", stamp.time, stamp.increment)
        }
        RawBsonRef::Undefined => write!(out, "undefined"),
        RawBsonRef::Binary(binary) => {
            write!(out, "BinData({}, {} bytes)", u8::from(binary.subtype), binary.bytes.len())
        }
        RawBsonRef::DbPointer(_) => write!(out, "DBRef"),
    };
}

/// As much of a text as will be shown.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(DESCRIPTION_BYTES_MAX + 1)]
}

fn write_list<'a>(
    out: &mut String,
    open: &str,
    close: &str,
    items: impl Iterator<Item = (Option<&'a str>, RawBsonRef<'a>)>,
) {
    out.push_str(open);
    let mut first = true;
    for (key, value) in items {
        if out.len() > DESCRIPTION_BYTES_MAX {
            return;
        }
        out.push_str(if first { " " } else { ", " });
        first = false;
        if let Some(key) = key {
            out.push_str(start(key));
            out.push_str(": ");
        }
        write_value(out, value);
    }
    if !first {
        out.push(' ');
    }
    out.push_str(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn values_read_as_in_the_shell() {
        let document = rawdoc! {
            "a": 1, "b": 2.0, "c": "x", "d": [1, { "e": null }], "f": {}, "g": [], "h": true,
        };
        assert_eq!(
            value(RawBsonRef::Document(&document)),
            "{ a: 1, b: 2.0, c: \"x\", d: [ 1, { e: null } ], f: {}, g: [], h: true }"
        );
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(10_000);
        assert!(value(RawBsonRef::String(&long)).len() < 300);
    }

    #[test]
    fn deep_values_are_cut() {
        let mut document = rawdoc! { "a": 1 };
        for _ in 0..2_000 {
            document = rawdoc! { "a": document };
        }
        assert!(value(RawBsonRef::Document(&document)).len() < 300);
    }
}
