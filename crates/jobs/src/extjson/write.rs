//! Documents as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use std::io::Write;
use value::element::{Element, array_elements, elements};

/// Appends a document, without a line break in it.
pub fn write(document: &RawDocument, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, element) in elements(document).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        string(element.key, out);
        out.push(b':');
        value(element, out);
    }
    out.push(b'}');
}

fn value(element: Element<'_>, out: &mut Vec<u8>) {
    if element.kind == ElementType::DbPointer {
        return pointer(element.bytes, out);
    }
    match element.value() {
        RawBsonRef::Document(document) => write(document, out),
        RawBsonRef::Array(array) => {
            out.push(b'[');
            for (at, element) in array_elements(array).enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                value(element, out);
            }
            out.push(b']');
        }
        RawBsonRef::String(text) => string(text, out),
        RawBsonRef::Boolean(true) => out.extend_from_slice(b"true"),
        RawBsonRef::Boolean(false) => out.extend_from_slice(b"false"),
        RawBsonRef::Null => out.extend_from_slice(b"null"),
        RawBsonRef::Int32(number) => text("$numberInt", &number.to_string(), out),
        RawBsonRef::Int64(number) => text("$numberLong", &number.to_string(), out),
        RawBsonRef::Double(number) => text("$numberDouble", &double(number), out),
        RawBsonRef::Decimal128(number) => text("$numberDecimal", &number.to_string(), out),
        RawBsonRef::ObjectId(id) => text("$oid", &id.to_hex(), out),
        RawBsonRef::Symbol(symbol) => text("$symbol", symbol, out),
        RawBsonRef::JavaScriptCode(code) => text("$code", code, out),
        RawBsonRef::DateTime(date) => {
            let number = date.timestamp_millis();
            print(out, format_args!("{{\"$date\":{{\"$numberLong\":\"{number}\"}}}}"));
        }
        RawBsonRef::Timestamp(it) => {
            let (time, increment) = (it.time, it.increment);
            print(out, format_args!("{{\"$timestamp\":{{\"t\":{time},\"i\":{increment}}}}}"));
        }
        RawBsonRef::Undefined => out.extend_from_slice(b"{\"$undefined\":true}"),
        RawBsonRef::MinKey => out.extend_from_slice(b"{\"$minKey\":1}"),
        RawBsonRef::MaxKey => out.extend_from_slice(b"{\"$maxKey\":1}"),
        RawBsonRef::Binary(binary) => {
            let (data, subtype) = (STANDARD.encode(binary.bytes), u8::from(binary.subtype));
            print(
                out,
                format_args!(
                    "{{\"$binary\":{{\"base64\":\"{data}\",\"subType\":\"{subtype:02x}\"}}}}"
                ),
            );
        }
        RawBsonRef::RegularExpression(regex) => {
            out.extend_from_slice(b"{\"$regularExpression\":{\"pattern\":");
            string(regex.pattern.as_str(), out);
            out.extend_from_slice(b",\"options\":");
            string(regex.options.as_str(), out);
            out.extend_from_slice(b"}}");
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            out.extend_from_slice(b"{\"$code\":");
            string(code.code, out);
            out.extend_from_slice(b",\"$scope\":");
            write(code.scope, out);
            out.push(b'}');
        }
        // Its parts are read from its bytes, above.
        RawBsonRef::DbPointer(_) => out.extend_from_slice(b"null"),
    }
}

/// A pointer's bytes: a string with its length and closing zero, then an id.
fn pointer(bytes: &[u8], out: &mut Vec<u8>) {
    let namespace = bytes.get(4..bytes.len().saturating_sub(13)).unwrap_or_default();
    let id = bytes.last_chunk().copied().unwrap_or_default();
    out.extend_from_slice(b"{\"$dbPointer\":{\"$ref\":");
    string(&String::from_utf8_lossy(namespace), out);
    out.extend_from_slice(b",\"$id\":");
    text("$oid", &bson::oid::ObjectId::from_bytes(id).to_hex(), out);
    out.extend_from_slice(b"}}");
}

/// The shortest text that reads back as the same number.
fn double(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{number:?}")
    }
}

/// `{"$name": "text"}`.
fn text(name: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    string(text, out);
    out.push(b'}');
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=0x1F => print(out, format_args!("\\u{byte:04x}")),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
}

fn print(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}
