//! Values and types as people read them, in messages and in `explain`: on one
//! line, in the shell's old notation. The one place that spells them.

use crate::Element;
use crate::element::{array_elements, elements};
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use std::fmt::Write;

/// Longer values are cut, so that a message never carries a whole document.
const SHORT_BYTES_MAX: usize = 256;

/// What a clipped document shows of a long text or binary value, and from which length on,
/// as MongoDB has it.
const CLIP_TEXT: Clip = Clip { from: 160, kept: 150 };
const CLIP_CODE: Clip = Clip { from: 80, kept: 70 };
const CLIP_BINARY: Clip = Clip { from: 81, kept: 70 };

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

/// A document, all of it.
pub fn document(document: &RawDocument) -> String {
    value(RawBsonRef::Document(document))
}

/// A value, all of it.
pub fn value(value: RawBsonRef<'_>) -> String {
    let mut text = Text::new(usize::MAX);
    text.value(value);
    text.out
}

/// A document with each long text in it cut, and cut itself where it is longer than this.
pub fn clipped(document: &RawDocument, bytes_max: usize) -> String {
    let mut text = Text { is_clipped: true, ..Text::new(bytes_max) };
    text.value(RawBsonRef::Document(document));
    text.cut()
}

/// A value, cut where it is long.
pub fn short(value: RawBsonRef<'_>) -> String {
    at_most(value, SHORT_BYTES_MAX)
}

/// Values as an array, cut where it is long.
pub fn short_list<'a>(values: impl Iterator<Item = RawBsonRef<'a>>) -> String {
    let mut text = Text::new(SHORT_BYTES_MAX);
    text.list("[", "]", values.map(|value| (None, value)));
    text.cut()
}

/// A text without quotes, cut where it is long.
pub fn short_text(text: &str) -> String {
    let mut short = Text::new(SHORT_BYTES_MAX);
    short.out.push_str(short.start(text));
    short.cut()
}

/// A value, cut where it is longer than this.
pub fn at_most(value: RawBsonRef<'_>, bytes_max: usize) -> String {
    let mut text = Text::new(bytes_max);
    text.value(value);
    text.cut()
}

/// `key: value`, cut where it is long.
pub fn short_field(key: &str, value: RawBsonRef<'_>) -> String {
    let mut text = Text::new(SHORT_BYTES_MAX);
    text.out = format!("{key}: ");
    text.value(value);
    text.cut()
}

/// `key: value` of an element, cut where it is long.
pub fn short_element(element: Element<'_>) -> String {
    short_field(element.key, element.value())
}

struct Text {
    out: String,
    /// Nothing is added to what is longer.
    bytes_max: usize,
    /// Whether texts within are cut one by one.
    is_clipped: bool,
}

struct Clip {
    from: usize,
    kept: usize,
}

// Writing to a string cannot fail, so what `write!` returns is dropped.
impl Text {
    fn new(bytes_max: usize) -> Text {
        Text { out: String::new(), bytes_max, is_clipped: false }
    }

    fn is_full(&self) -> bool {
        self.out.len() > self.bytes_max
    }

    fn cut(mut self) -> String {
        if self.is_full() {
            self.out.truncate(self.out.floor_char_boundary(self.bytes_max));
            self.out.push_str("...");
        }
        self.out
    }

    /// As much of a text as will be shown.
    fn start<'t>(&self, text: &'t str) -> &'t str {
        &text[..text.floor_char_boundary(self.bytes_max.saturating_add(1))]
    }

    /// As much of a text as will be shown, and what stands for the rest.
    fn clip<'t>(&self, text: &'t str, clip: &Clip) -> (&'t str, &'static str) {
        match self.is_clipped && text.len() >= clip.from {
            true => (&text[..text.floor_char_boundary(clip.kept)], "..."),
            false => (self.start(text), ""),
        }
    }

    fn value(&mut self, value: RawBsonRef<'_>) {
        if self.is_full() {
            return;
        }
        let _ = match value {
            RawBsonRef::Double(number) => write!(self.out, "{}", double(number)),
            RawBsonRef::Int32(number) => write!(self.out, "{number}"),
            RawBsonRef::Int64(number) => write!(self.out, "{number}"),
            RawBsonRef::Decimal128(number) => write!(self.out, "{number}"),
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => {
                let (text, rest) = self.clip(text, &CLIP_TEXT);
                write!(self.out, "\"{text}{rest}\"")
            }
            RawBsonRef::Boolean(flag) => write!(self.out, "{flag}"),
            RawBsonRef::Null => write!(self.out, "null"),
            RawBsonRef::Undefined => write!(self.out, "undefined"),
            RawBsonRef::MinKey => write!(self.out, "MinKey"),
            RawBsonRef::MaxKey => write!(self.out, "MaxKey"),
            RawBsonRef::ObjectId(id) => write!(self.out, "ObjectId('{id}')"),
            RawBsonRef::DateTime(date) => {
                write!(self.out, "new Date({})", date.timestamp_millis())
            }
            RawBsonRef::Timestamp(at) => {
                write!(self.out, "Timestamp({}, {})", at.time, at.increment)
            }
            RawBsonRef::RegularExpression(regex) => {
                let pattern = self.start(regex.pattern.as_str());
                write!(self.out, "/{pattern}/{}", regex.options.as_str())
            }
            RawBsonRef::Binary(binary) => {
                let _ = write!(self.out, "BinData({}, ", u8::from(binary.subtype));
                let is_cut = self.is_clipped && binary.bytes.len() >= CLIP_BINARY.from;
                let kept = if is_cut { CLIP_BINARY.kept } else { self.bytes_max };
                for byte in binary.bytes.iter().take(kept) {
                    let _ = write!(self.out, "{byte:02X}");
                }
                write!(self.out, "{})", if is_cut { "..." } else { "" })
            }
            RawBsonRef::JavaScriptCode(code) => {
                let (code, rest) = self.clip(code, &CLIP_CODE);
                write!(self.out, "{code}{rest}")
            }
            RawBsonRef::JavaScriptCodeWithScope(code) => {
                let _ = write!(self.out, "CodeWScope( {}, ", self.start(code.code));
                self.value(RawBsonRef::Document(code.scope));
                write!(self.out, ")")
            }
            RawBsonRef::DbPointer(_) => write!(self.out, "DBRef()"),
            RawBsonRef::Document(document) => {
                let fields = elements(document);
                self.list("{", "}", fields.map(|field| (Some(field.key), field.value())));
                Ok(())
            }
            RawBsonRef::Array(array) => {
                self.list("[", "]", array_elements(array).values().map(|value| (None, value)));
                Ok(())
            }
        };
    }

    fn list<'a>(
        &mut self,
        open: &str,
        close: &str,
        items: impl Iterator<Item = (Option<&'a str>, RawBsonRef<'a>)>,
    ) {
        self.out.push_str(open);
        let mut separator = " ";
        for (key, value) in items {
            if self.is_full() {
                return;
            }
            self.out.push_str(separator);
            separator = ", ";
            if let Some(key) = key {
                let key = self.start(key);
                self.out.push_str(key);
                self.out.push_str(": ");
            }
            self.value(value);
        }
        if separator == ", " {
            self.out.push(' ');
        }
        self.out.push_str(close);
    }
}

/// A double always looks like one: `5.0`, `inf.0`.
fn double(number: f64) -> String {
    if number.is_nan() {
        return "nan.0".to_owned();
    }
    let text = format!("{number}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn values_read_as_in_the_shell() {
        let value = rawdoc! {
            "a": 1, "b": 2.0, "c": "x", "d": [1, { "e": null }], "f": {}, "g": [], "h": true,
        };
        let text = "{ a: 1, b: 2.0, c: \"x\", d: [ 1, { e: null } ], f: {}, g: [], h: true }";
        assert_eq!(document(&value), text);
        assert_eq!(short(RawBsonRef::Document(&value)), text);
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(10_000);
        assert!(short(RawBsonRef::String(&long)).len() < 300);
        assert!(value(RawBsonRef::String(&long)).len() > 20_000);
    }

    #[test]
    fn a_clipped_document_shows_the_start_of_each_long_text() {
        let (long, short) = ("x".repeat(160), "y".repeat(159));
        let value = rawdoc! { "a": long.as_str(), "b": [short.as_str(), 1], "c": [long.as_str()] };
        let start = "x".repeat(150);
        let text = format!("{{ a: \"{start}...\", b: [ \"{short}\", 1 ], c: [ \"{start}...\" ] }}");
        assert_eq!(clipped(&value, usize::MAX), text);
        assert!(clipped(&value, 200).len() < 220);
        let binary = |bytes: usize| {
            let subtype = bson::spec::BinarySubtype::Generic;
            let binary = bson::Binary { subtype, bytes: vec![1; bytes] };
            clipped(&rawdoc! { "a": binary }, usize::MAX)
        };
        assert_eq!(binary(80), format!("{{ a: BinData(0, {}) }}", "01".repeat(80)));
        assert_eq!(binary(81), format!("{{ a: BinData(0, {}...) }}", "01".repeat(70)));
    }

    #[test]
    fn deep_values_are_cut() {
        let mut document = rawdoc! { "a": 1 };
        for _ in 0..2_000 {
            document = rawdoc! { "a": document };
        }
        assert!(short(RawBsonRef::Document(&document)).len() < 300);
    }
}
