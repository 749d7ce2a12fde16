//! Walking the elements of a raw document without parsing what is passed over.
//!
//! Documents were checked where they entered, so walking has no errors: on bytes
//! that are malformed nonetheless it ends early, and reads nothing out of bounds.

use crate::shape::Shape;
use crate::wide;
use bson::raw::{CStr, RawBinaryRef, RawDbPointerRef, RawJavaScriptCodeWithScopeRef, RawRegexRef};
use bson::spec::{BinarySubtype, ElementType};
use bson::{
    DateTime, Decimal128, RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf,
    Timestamp, oid::ObjectId,
};
use serde::Deserialize;
use serde::de::value::{BorrowedBytesDeserializer, BorrowedStrDeserializer, MapDeserializer};
use std::sync::LazyLock;

/// One element: its type byte, key, and the bytes of its value, still in place.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    pub kind: ElementType,
    pub key: &'a str,
    /// The value's bytes, without type and key.
    pub bytes: &'a [u8],
}

impl<'a> Element<'a> {
    pub fn value(&self) -> RawBsonRef<'a> {
        value(self.kind, self.bytes)
    }

    /// The document this is; an array counts as one whose keys are "0", "1", ….
    pub fn as_document(&self) -> Option<&'a RawDocument> {
        match self.kind {
            ElementType::EmbeddedDocument | ElementType::Array => Some(document(self.bytes)),
            _ => None,
        }
    }

    /// The elements inside, if this is a document or an array; else none.
    pub fn children(&self) -> Elements<'a> {
        match self.kind {
            ElementType::EmbeddedDocument | ElementType::Array => Elements::new(self.bytes),
            _ => Elements { rest: &[] },
        }
    }
}

/// The elements of a document in order.
#[derive(Default, Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

pub fn elements(document: &RawDocument) -> Elements<'_> {
    Elements::new(document.as_bytes())
}

/// The elements of an array; keys are whatever was stored and mean nothing.
pub fn array_elements(array: &RawArray) -> Elements<'_> {
    Elements::new(array.as_bytes())
}

/// The first element with this key.
#[inline]
pub fn get<'a>(document: &'a RawDocument, key: &str) -> Option<Element<'a>> {
    elements(document).find_first(key)
}

/// The value of the first element with this key.
pub fn get_value<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    get(document, key).map(|element| element.value())
}

/// How many elements an array has.
pub fn array_len(array: &RawArray) -> usize {
    array_elements(array).count()
}

/// Views the bytes of a whole document (its length first) as an array.
pub fn as_array(document: &RawDocument) -> &RawArray {
    // The bson crate offers no other safe way from bytes to a borrowed array.
    let bytes = BorrowedBytesDeserializer::<serde::de::value::Error>::new(document.as_bytes());
    <&RawArray>::deserialize(bytes).unwrap_or_else(|_| empty_array())
}

/// Views an array as the document it is stored as: keys "0", "1", ….
pub fn as_document(array: &RawArray) -> &RawDocument {
    RawDocument::from_bytes(array.as_bytes()).unwrap_or_else(|_| empty_document())
}

impl<'a> Elements<'a> {
    /// `bytes` is a whole document: its length, the elements, a zero byte.
    fn new(bytes: &'a [u8]) -> Elements<'a> {
        Elements { rest: bytes.get(4..bytes.len().saturating_sub(1)).unwrap_or(&[]) }
    }

    /// The elements that these bytes are, one after the other.
    pub fn within(bytes: &'a [u8]) -> Elements<'a> {
        Elements { rest: bytes }
    }

    /// Moves past the next element and returns it, its key as bytes and beside it.
    #[inline]
    pub fn next_keyed(&mut self) -> Option<(&'a [u8], Element<'a>)> {
        let step = step(self.rest)?;
        self.rest = step.rest;
        Some((step.key, step.item()))
    }

    /// The first element with this key, of all elements of a document.
    #[inline]
    pub fn find_first(mut self, key: &str) -> Option<Element<'a>> {
        if self.rest.len() >= wide::WIDE_BYTES_MIN
            && let Some(place) = wide::find(self.rest, key)
        {
            return step(self.rest.get(place?..)?)?.element();
        }
        self.find_key(key)
    }

    /// How many bytes are left.
    pub(crate) fn len_bytes(&self) -> usize {
        self.rest.len()
    }

    /// Moves past the next element with this key and returns it.
    pub fn find_key(&mut self, key: &str) -> Option<Element<'a>> {
        self.find_step(key)?.element()
    }

    /// The same, the element without its key.
    pub fn find_item(&mut self, key: &str) -> Option<Element<'a>> {
        self.find_step(key).map(|step| step.item())
    }

    /// Keys passed over are compared as bytes, never decoded.
    #[inline(always)]
    fn find_step(&mut self, key: &str) -> Option<Step<'a>> {
        while let Some(step) = step(self.rest) {
            self.rest = step.rest;
            if step.key == key.as_bytes() {
                return Some(step);
            }
        }
        None
    }

    /// The first elements with these keys, found in one walk; their own keys are left out.
    pub fn find_keys<const N: usize>(self, keys: [&str; N]) -> [Option<Element<'a>>; N] {
        let mut found = [None; N];
        self.find_each(&keys, &mut found);
        found
    }

    /// The same for any number of keys: one piece of code for all, which is read from memory
    /// more often than it is run.
    #[inline(never)]
    fn find_each(mut self, keys: &[&str], found: &mut [Option<Element<'a>>]) {
        let mut missing = keys.len();
        let lengths = keys.iter().fold(KeyLengths::default(), |all, key| all.with(key));
        while missing > 0
            && let Some(step) = step(self.rest)
        {
            self.rest = step.rest;
            if !lengths.has(step.key) {
                continue;
            }
            for (key, found) in keys.iter().zip(&mut *found) {
                if step.key == key.as_bytes() && found.is_none() {
                    *found = Some(step.item());
                    missing -= 1;
                }
            }
        }
    }

    /// What follows the other elements, if these begin with them to the last byte.
    pub fn after(&self, others: &Elements<'_>) -> Option<Elements<'a>> {
        self.rest.strip_prefix(others.rest).map(Elements::within)
    }

    /// The element `index` places further on, its key not looked at.
    pub fn nth_value(mut self, index: usize) -> Option<Element<'a>> {
        for _ in 0..index {
            self.rest = step(self.rest)?.rest;
        }
        Some(step(self.rest)?.item())
    }

    /// The elements without their keys, for arrays, whose keys mean nothing.
    pub fn items(mut self) -> impl Iterator<Item = Element<'a>> {
        std::iter::from_fn(move || self.next_keyed().map(|(_, item)| item))
    }

    /// The elements, their keys as bytes and beside them.
    pub fn keyed(mut self) -> impl Iterator<Item = (&'a [u8], Element<'a>)> {
        std::iter::from_fn(move || self.next_keyed())
    }

    /// The values alone, for arrays, whose keys mean nothing.
    pub fn values(mut self) -> impl Iterator<Item = RawBsonRef<'a>> {
        std::iter::from_fn(move || {
            let step = step(self.rest)?;
            self.rest = step.rest;
            Some(value(step.shape.kind(), step.value))
        })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        let step = step(self.rest)?;
        self.rest = step.rest;
        step.element()
    }

    /// Nothing but the lengths of the elements is looked at.
    fn count(self) -> usize {
        let mut rest = self.rest;
        let mut count = 0;
        while let Some(step) = step(rest) {
            rest = step.rest;
            count += 1;
        }
        count
    }
}

struct Step<'a> {
    shape: Shape,
    key: &'a [u8],
    value: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Step<'a> {
    #[inline]
    fn element(&self) -> Option<Element<'a>> {
        let key = std::str::from_utf8(self.key).ok()?;
        Some(Element { kind: self.shape.kind(), key, bytes: self.value })
    }

    /// The element without its key.
    #[inline]
    fn item(&self) -> Element<'a> {
        Element { kind: self.shape.kind(), key: "", bytes: self.value }
    }
}

/// Splits the first element off.
#[inline(always)]
fn step(bytes: &[u8]) -> Option<Step<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let shape = Shape::of(tag)?;
    let (key, rest) = split_cstring(rest)?;
    let (value, rest) = rest.split_at_checked(shape.value_len(rest)?)?;
    Some(Step { shape, key, value, rest })
}

/// How long the keys are that someone looks for, by which most others are told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyLengths(u64);

impl KeyLengths {
    pub fn with(self, key: &str) -> KeyLengths {
        KeyLengths(self.0 | KeyLengths::bit(key.as_bytes()))
    }

    /// Whether a key may be one of those.
    #[inline]
    pub fn has(self, key: &[u8]) -> bool {
        self.0 & KeyLengths::bit(key) != 0
    }

    /// The same for all keys of a length.
    #[inline]
    fn bit(key: &[u8]) -> u64 {
        1 << (key.len() % 64)
    }
}

/// The little-endian length at the start of `bytes`.
#[inline]
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok()
}

/// Splits at the first zero byte, which belongs to neither part.
#[inline]
pub(crate) fn split_cstring(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = zero_position(bytes)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Where the first zero byte is; eight bytes a step, since keys are short and a
/// call into a vectorised search costs more than it saves.
#[inline]
pub(crate) fn zero_position(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let zeros = word.wrapping_sub(ONES) & !word & HIGH;
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| *byte == 0).map(|found| at + found)
}

/// Reads a value from its bytes. Bytes too short to hold it read as zeros.
#[inline]
pub(crate) fn value(kind: ElementType, bytes: &[u8]) -> RawBsonRef<'_> {
    match kind {
        ElementType::Double => RawBsonRef::Double(f64::from_le_bytes(fixed(bytes))),
        ElementType::String => RawBsonRef::String(string(bytes)),
        ElementType::EmbeddedDocument => RawBsonRef::Document(document(bytes)),
        ElementType::Array => RawBsonRef::Array(as_array(document(bytes))),
        ElementType::Binary => RawBsonRef::Binary(binary(bytes)),
        ElementType::Undefined => RawBsonRef::Undefined,
        ElementType::ObjectId => RawBsonRef::ObjectId(ObjectId::from_bytes(fixed(bytes))),
        ElementType::Boolean => RawBsonRef::Boolean(bytes.first() == Some(&1)),
        ElementType::DateTime => {
            RawBsonRef::DateTime(DateTime::from_millis(i64::from_le_bytes(fixed(bytes))))
        }
        ElementType::Null => RawBsonRef::Null,
        ElementType::RegularExpression => RawBsonRef::RegularExpression(regex(bytes)),
        ElementType::DbPointer => db_pointer(bytes),
        ElementType::JavaScriptCode => RawBsonRef::JavaScriptCode(string(bytes)),
        ElementType::Symbol => RawBsonRef::Symbol(string(bytes)),
        ElementType::JavaScriptCodeWithScope => {
            RawBsonRef::JavaScriptCodeWithScope(code_with_scope(bytes))
        }
        ElementType::Int32 => RawBsonRef::Int32(i32::from_le_bytes(fixed(bytes))),
        ElementType::Timestamp => RawBsonRef::Timestamp(Timestamp {
            increment: u32::from_le_bytes(fixed(bytes)),
            time: u32::from_le_bytes(fixed(bytes.get(4..).unwrap_or(&[]))),
        }),
        ElementType::Int64 => RawBsonRef::Int64(i64::from_le_bytes(fixed(bytes))),
        ElementType::Decimal128 => RawBsonRef::Decimal128(Decimal128::from_bytes(fixed(bytes))),
        ElementType::MaxKey => RawBsonRef::MaxKey,
        ElementType::MinKey => RawBsonRef::MinKey,
    }
}

#[inline]
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// A length, that many bytes, the last of them zero.
#[inline]
fn string(bytes: &[u8]) -> &str {
    let end = length(bytes).and_then(|len| len.checked_add(3)).unwrap_or(0);
    let text = bytes.get(4..end).unwrap_or(&[]);
    std::str::from_utf8(text).unwrap_or("")
}

#[inline]
fn document(bytes: &[u8]) -> &RawDocument {
    RawDocument::from_bytes(bytes).unwrap_or_else(|_| empty_document())
}

/// The old binary subtype repeats the length inside; the bytes come after it.
fn binary(bytes: &[u8]) -> RawBinaryRef<'_> {
    let subtype = BinarySubtype::from(bytes.get(4).copied().unwrap_or(0));
    let start = if subtype == BinarySubtype::BinaryOld { 9 } else { 5 };
    RawBinaryRef { subtype, bytes: bytes.get(start..).unwrap_or(&[]) }
}

fn regex(bytes: &[u8]) -> RawRegexRef<'_> {
    let mut parts = bytes.split(|byte| *byte == 0).map(cstr);
    let pattern = parts.next().unwrap_or(bson::raw::cstr!(""));
    RawRegexRef { pattern, options: parts.next().unwrap_or(bson::raw::cstr!("")) }
}

fn cstr(bytes: &[u8]) -> &CStr {
    let text = std::str::from_utf8(bytes).unwrap_or("");
    text.try_into().unwrap_or(bson::raw::cstr!(""))
}

fn code_with_scope(bytes: &[u8]) -> RawJavaScriptCodeWithScopeRef<'_> {
    let rest = bytes.get(4..).unwrap_or(&[]);
    let code_len = length(rest).and_then(|len| len.checked_add(4)).unwrap_or(0);
    let scope = rest.get(code_len..).unwrap_or(&[]);
    RawJavaScriptCodeWithScopeRef { code: string(rest), scope: document(scope) }
}

/// The fields of bson's pointer type are private; it can be made only by serde,
/// from the form that extended JSON gives it. The type is deprecated and rare.
fn db_pointer(bytes: &[u8]) -> RawBsonRef<'_> {
    type Text<'a> = BorrowedStrDeserializer<'a, serde::de::value::Error>;
    type Bytes<'a> = BorrowedBytesDeserializer<'a, serde::de::value::Error>;
    let id = bytes.len().checked_sub(12).and_then(|start| bytes.get(start..)).unwrap_or(&[]);
    let fields = [
        (Text::new("$ref"), Bytes::new(string(bytes).as_bytes())),
        (Text::new("$id"), Bytes::new(id)),
    ];
    let body = MapDeserializer::new(fields.into_iter());
    let pointer = MapDeserializer::new([(Text::new("$dbPointer"), body)].into_iter());
    match RawDbPointerRef::deserialize(pointer) {
        Ok(pointer) => RawBsonRef::DbPointer(pointer),
        Err(_) => RawBsonRef::Undefined,
    }
}

fn empty_document<'a>() -> &'a RawDocument {
    static EMPTY: LazyLock<RawDocumentBuf> = LazyLock::new(RawDocumentBuf::new);
    &EMPTY
}

fn empty_array<'a>() -> &'a RawArray {
    static EMPTY: LazyLock<RawArrayBuf> = LazyLock::new(RawArrayBuf::new);
    &EMPTY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocumentWriter, check, sample};
    use bson::{RawBson, rawdoc};
    use proptest::prelude::*;

    #[test]
    fn elements_are_found_by_key_and_place() {
        let document = rawdoc! { "a": 1, "ab": "x", "list": [1, 2, { "c": 3 }], "z": null };
        let keys: Vec<_> = elements(&document).map(|element| element.key).collect();
        assert_eq!(keys, ["a", "ab", "list", "z"]);
        assert_eq!(get_value(&document, "ab"), Some(RawBsonRef::String("x")));
        assert!(get(&document, "b").is_none() && get(&document, "").is_none());
        let list = get(&document, "list").unwrap();
        assert_eq!(list.children().count(), 3);
        assert_eq!(list.children().nth_value(1).unwrap().value(), RawBsonRef::Int32(2));
        assert!(list.children().nth_value(3).is_none());
        assert_eq!(get(&document, "z").unwrap().children().count(), 0);
    }

    #[test]
    fn several_keys_are_found_in_one_walk() {
        let document = rawdoc! { "a": 1, "b": 2, "c": 3, "b": 4 };
        let found = elements(&document).find_keys(["b", "x", "a"]);
        let values = found.map(|element| element.map(|element| element.value()));
        assert_eq!(values, [Some(RawBsonRef::Int32(2)), None, Some(RawBsonRef::Int32(1))]);
        assert_eq!(elements(&document).count(), 4);
    }

    proptest! {
        #[test]
        fn what_is_written_is_checked_and_read(values in prop::collection::vec(sample::value(), 0..6)) {
            let mut writer = DocumentWriter::new();
            let mut theirs = RawDocumentBuf::new();
            for (at, value) in values.iter().enumerate() {
                let key = format!("key{at}");
                writer.append(&key, value.as_raw_bson_ref());
                theirs.append(bson::raw::CString::try_from(key).unwrap(), value.as_raw_bson_ref());
            }
            let document = writer.finish();
            prop_assert_eq!(&document, &theirs);
            check::document(document.as_bytes(), 20).unwrap();
            let mut copy = DocumentWriter::new();
            for (element, value) in elements(&document).zip(&values) {
                let read: RawBson = crate::value::to_owned(element.value());
                prop_assert_eq!(format!("{read:?}"), format!("{value:?}"));
                copy.copy(element);
            }
            prop_assert_eq!(&copy.finish(), &document);
        }

        #[test]
        fn damaged_documents_are_walked_without_panic(
            value in sample::value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut writer = DocumentWriter::new();
            writer.append("a", value.as_raw_bson_ref());
            let mut bytes = writer.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let sound = check::document(&bytes, 20).is_ok();
            if let Ok(document) = RawDocument::from_bytes(&bytes) {
                let mut key = crate::key::Key::default();
                let value = RawBsonRef::Document(document);
                key.push(value, crate::key::Direction::Ascending, None);
                prop_assert_eq!(crate::compare(value, value), std::cmp::Ordering::Equal);
                if sound {
                    document.iter().try_for_each(|element| element.map(drop)).unwrap();
                }
            }
        }
    }
}
