//! The check every document passes once, where it enters.

use crate::element::{elements, length, split_cstring};
use crate::shape::Shape;
use bson::RawDocument;
use bson::spec::ElementType;
use error::{Code, Error, Result};

/// How deep documents and arrays may nest in a stored document, itself counted.
pub const DEPTH_MAX: usize = 180;

/// A document's length and its closing zero byte.
const DOCUMENT_BYTES_MIN: usize = 5;

/// What a document around another one adds at least: that, a type and an empty name.
const LEVEL_BYTES_MIN: usize = DOCUMENT_BYTES_MIN + 2;

/// Checks lengths, types, UTF-8 and depth of the document at the start of
/// `bytes` and returns it; what follows it is left alone. Code 22 (InvalidBSON)
/// for malformed bytes, 15 (Overflow) for nesting past `depth_max`.
/// Iterative: no nesting can exhaust the stack.
pub fn document(bytes: &[u8], depth_max: usize) -> Result<&RawDocument> {
    let len = document_len(bytes)?;
    let bytes = &bytes[..len];
    Walk { bytes, at: 4, ends: vec![len], depth_max }.run()?;
    RawDocument::from_bytes(bytes).map_err(|error| malformed(&error.to_string()))
}

/// Whether documents and arrays nest deeper than so many levels, the document itself counted.
/// What is too short to be so deep is not walked.
pub fn is_deeper(document: &RawDocument, depth_max: usize) -> bool {
    if document.as_bytes().len() < depth_max * LEVEL_BYTES_MIN {
        return false;
    }
    let Some(inside) = depth_max.checked_sub(1) else { return true };
    elements(document).any(|field| match field.kind {
        ElementType::EmbeddedDocument | ElementType::Array => {
            field.as_document().is_some_and(|inner| is_deeper(inner, inside))
        }
        _ => false,
    })
}

/// The length of the document at the start of `bytes`, which holds all of it.
fn document_len(bytes: &[u8]) -> Result<usize> {
    let Some(len) = bytes.first_chunk().copied().map(i32::from_le_bytes) else {
        return Err(malformed("not enough data for a document's length"));
    };
    let len = usize::try_from(len).unwrap_or(0);
    if len < DOCUMENT_BYTES_MIN {
        return Err(malformed("the length of a document is too small"));
    }
    match bytes.get(len - 1) {
        Some(0) => Ok(len),
        Some(_) => Err(malformed("a document does not end with a zero byte")),
        None => Err(malformed("the length of a document passes the end of the data")),
    }
}

fn malformed(what: &str) -> Error {
    Code::InvalidBSON.error(format!("invalid BSON: {what}"))
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where each open document ends, outermost first.
    ends: Vec<usize>,
    depth_max: usize,
}

impl<'a> Walk<'a> {
    fn run(&mut self) -> Result<()> {
        if self.depth_max == 0 {
            return Err(self.too_deep());
        }
        while let Some(&end) = self.ends.last() {
            // A document's last byte is its closing zero, known to be there.
            if self.at == end - 1 {
                self.at = end;
                self.ends.pop();
                continue;
            }
            self.element(end - 1)?;
        }
        Ok(())
    }

    /// Checks the element at `at`, which must end at or before `end`.
    fn element(&mut self, end: usize) -> Result<()> {
        let bytes: &'a [u8] = self.bytes;
        let rest = bytes.get(self.at..end).unwrap_or(&[]);
        let Some((&tag, rest)) = rest.split_first() else {
            return Err(malformed("an element passes the end of its document"));
        };
        let Some(shape) = Shape::of(tag) else {
            return Err(malformed(&format!("unrecognized type {tag}")));
        };
        let Some((key, rest)) = split_cstring(rest) else {
            return Err(malformed("a field name has no end"));
        };
        utf8(key, "a field name")?;
        let short = || malformed("a value passes the end of its document");
        let value = rest.get(..shape.value_len(rest).ok_or_else(short)?).ok_or_else(short)?;
        let start = end - rest.len();
        self.at = start + value.len();
        match shape.kind() {
            ElementType::EmbeddedDocument | ElementType::Array => self.open(start, value)?,
            ElementType::String | ElementType::JavaScriptCode | ElementType::Symbol => {
                string(value)?;
            }
            ElementType::Boolean if value[0] > 1 => {
                return Err(malformed("a boolean is neither 0 nor 1"));
            }
            ElementType::Binary => binary(value)?,
            ElementType::RegularExpression => utf8(value, "a regular expression")?,
            ElementType::DbPointer => string(&value[..value.len() - 12])?,
            ElementType::JavaScriptCodeWithScope => self.code_with_scope(start, value)?,
            _ => {}
        }
        Ok(())
    }

    /// Steps into the document that `value`, found at `start`, holds.
    fn open(&mut self, start: usize, value: &[u8]) -> Result<()> {
        if document_len(value)? != value.len() {
            return Err(malformed("a document's length does not fit its place"));
        }
        if self.ends.len() >= self.depth_max {
            return Err(self.too_deep());
        }
        self.ends.push(start + value.len());
        self.at = start + 4;
        Ok(())
    }

    /// The whole length, a string, a document that ends where the whole ends.
    fn code_with_scope(&mut self, start: usize, value: &[u8]) -> Result<()> {
        let wrong = || malformed("the lengths inside code with scope do not add up");
        let rest = value.get(4..).ok_or_else(wrong)?;
        let len = length(rest).and_then(|len| len.checked_add(4)).ok_or_else(wrong)?;
        let (code, scope) = rest.split_at_checked(len).ok_or_else(wrong)?;
        string(code)?;
        self.open(start + 4 + len, scope)
    }

    fn too_deep(&self) -> Error {
        let max = self.depth_max;
        Code::Overflow.error(format!("BSONObj exceeds maximum nested object depth: {max}"))
    }
}

/// `value` is a length, that many bytes of text, the last of them zero.
fn string(value: &[u8]) -> Result<()> {
    match value.get(4..).and_then(|text| text.split_last()) {
        Some((0, text)) => utf8(text, "a string"),
        _ => Err(malformed("a string does not end with a zero byte")),
    }
}

/// The old subtype repeats the length in front of the bytes.
fn binary(value: &[u8]) -> Result<()> {
    let (Some(&subtype), Some(data)) = (value.get(4), value.get(5..)) else {
        return Err(malformed("a binary value is too short"));
    };
    if subtype != 2 {
        return Ok(());
    }
    match data.first_chunk().copied().map(i32::from_le_bytes) {
        Some(len) if i64::from(len) == data.len() as i64 - 4 => Ok(()),
        _ => Err(malformed("the inner length of an old binary value is wrong")),
    }
}

fn utf8(bytes: &[u8], what: &str) -> Result<()> {
    // Most names and texts are ASCII, and seeing that costs less.
    if bytes.is_ascii() || std::str::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    Err(malformed(&format!("{what} is not valid UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    fn code(bytes: &[u8]) -> i32 {
        document(bytes, DEPTH_MAX).unwrap_err().code().number()
    }

    /// `{"": {"": … {}}}`, so many documents in all.
    fn nested(depth: usize) -> Vec<u8> {
        let mut bytes = vec![5, 0, 0, 0, 0];
        for _ in 1..depth {
            let len = bytes.len() as i32 + 7;
            let mut outer = len.to_le_bytes().to_vec();
            outer.extend([3, 0]);
            outer.extend(&bytes);
            outer.push(0);
            bytes = outer;
        }
        bytes
    }

    #[test]
    fn ordinary_documents_pass_and_trailing_bytes_are_left_alone() {
        let sound = rawdoc! {
            "a": 1, "b": "text", "c": { "d": [1, 2.5, true, bson::oid::ObjectId::new()] }, "e": null
        };
        let mut bytes = sound.as_bytes().to_vec();
        bytes.extend([1, 2, 3]);
        assert_eq!(document(&bytes, DEPTH_MAX).unwrap().as_bytes(), sound.as_bytes());
    }

    #[test]
    fn nesting_is_bounded_without_recursion() {
        assert!(document(&nested(180), 180).is_ok());
        assert_eq!(document(&nested(181), 180).unwrap_err().code().number(), 15);
        assert_eq!(document(&nested(10_000), 180).unwrap_err().code().number(), 15);
        for depth in [1, 2, 179, 180, 181, 200] {
            let bytes = nested(depth);
            let nested = RawDocument::from_bytes(&bytes).unwrap();
            assert_eq!(is_deeper(nested, 180), depth > 180, "{depth}");
        }
        assert!(document(&nested(10_000), 20_000).is_ok());
    }

    #[test]
    fn every_truncation_and_every_wrong_length_is_refused_or_harmless() {
        let sound = rawdoc! { "a": 1, "b": "text", "c": { "d": [1, "x"] }, "f": 2.5 };
        let bytes = sound.as_bytes();
        for len in 0..bytes.len() {
            assert_eq!(code(&bytes[..len]), 22, "cut at {len}");
        }
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xFF] {
                let mut broken = bytes.to_vec();
                broken[at] ^= flip;
                if let Ok(accepted) = document(&broken, DEPTH_MAX) {
                    for element in accepted.iter() {
                        element.unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn booleans_strings_binaries_and_types_are_looked_at() {
        assert_eq!(code(b"\x09\0\0\0\x08a\0\x02\0"), 22);
        assert_eq!(code(b"\x08\0\0\0\x2Aa\0\0"), 22);
        assert_eq!(code(b"\x0F\0\0\0\x02a\0\x03\0\0\0\xC3\x28\0\0"), 22);
        assert_eq!(code(b"\x0E\0\0\0\x02a\0\x02\0\0\0xx\0"), 22);
        // Old binary, with a right and a wrong inner length.
        assert!(document(b"\x12\0\0\0\x05a\0\x05\0\0\0\x02\x01\0\0\0x\0", 9).is_ok());
        assert_eq!(code(b"\x12\0\0\0\x05a\0\x05\0\0\0\x02\x02\0\0\0x\0"), 22);
    }
}
