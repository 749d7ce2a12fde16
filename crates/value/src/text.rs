//! Values as people read them in messages and in `explain`: on one line, in the
//! shell's old notation.

use crate::element::{array_elements, elements};
use bson::{RawBsonRef, RawDocument};
use std::fmt::Write;

/// A document on one line, as the shell's old notation has it.
pub fn document(document: &RawDocument) -> String {
    let mut text = String::new();
    write_document(&mut text, document);
    text
}

pub fn value(value: RawBsonRef<'_>) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_document(text: &mut String, document: &RawDocument) {
    let mut separator = "{ ";
    for element in elements(document) {
        text.push_str(separator);
        text.push_str(element.key);
        text.push_str(": ");
        write_value(text, element.value());
        separator = ", ";
    }
    text.push_str(if separator == ", " { " }" } else { "{}" });
}

// Writing to a string cannot fail, so what `write!` returns is dropped.
fn write_value(text: &mut String, value: RawBsonRef<'_>) {
    let _ = match value {
        RawBsonRef::Double(number) => write!(text, "{}", double(number)),
        RawBsonRef::Int32(number) => write!(text, "{number}"),
        RawBsonRef::Int64(number) => write!(text, "{number}"),
        RawBsonRef::Decimal128(number) => write!(text, "{number}"),
        RawBsonRef::String(string) | RawBsonRef::Symbol(string) => write!(text, "\"{string}\""),
        RawBsonRef::Boolean(flag) => write!(text, "{flag}"),
        RawBsonRef::Null => write!(text, "null"),
        RawBsonRef::Undefined => write!(text, "undefined"),
        RawBsonRef::MinKey => write!(text, "MinKey"),
        RawBsonRef::MaxKey => write!(text, "MaxKey"),
        RawBsonRef::ObjectId(id) => write!(text, "ObjectId('{id}')"),
        RawBsonRef::DateTime(date) => write!(text, "new Date({})", date.timestamp_millis()),
        RawBsonRef::Timestamp(at) => write!(text, "Timestamp({}, {})", at.time, at.increment),
        RawBsonRef::RegularExpression(regex) => {
            write!(text, "/{}/{}", regex.pattern.as_str(), regex.options.as_str())
        }
        RawBsonRef::Binary(binary) => {
            let _ = write!(text, "BinData({}, ", u8::from(binary.subtype));
            for byte in binary.bytes {
                let _ = write!(text, "{byte:02X}");
            }
            write!(text, ")")
        }
        RawBsonRef::JavaScriptCode(code) => write!(text, "{code}"),
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            let _ = write!(text, "CodeWScope( {}, ", code.code);
            write_document(text, code.scope);
            write!(text, ")")
        }
        RawBsonRef::DbPointer(_) => write!(text, "DBRef()"),
        RawBsonRef::Document(document) => {
            write_document(text, document);
            Ok(())
        }
        RawBsonRef::Array(array) => {
            let mut separator = "[ ";
            for element in array_elements(array) {
                text.push_str(separator);
                write_value(text, element.value());
                separator = ", ";
            }
            text.push_str(if separator == ", " { " ]" } else { "[]" });
            Ok(())
        }
    };
}

/// A double always looks like one: `5.0`, `inf.0`.
fn double(number: f64) -> String {
    if number.is_nan() {
        return "nan.0".to_owned();
    }
    let text = format!("{number}");
    if text.contains('.') { text } else { format!("{text}.0") }
}
