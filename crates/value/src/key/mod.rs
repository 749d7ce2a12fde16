//! Keys that sort by bytes exactly as BSON sorts.
//!
//! Values that compare equal encode to the same bytes (1, 1.0 and 1 as int64),
//! so a key alone cannot say which type it came from. `types` holds what the
//! bytes lose; it is empty for the commonest types.
//!
//! # Layout
//!
//! A value is a tag byte and a body; a value's bytes are never a prefix of
//! another's. Tags are never 0x00 or 0xFF, neither plain nor inverted, so that
//! `prefix + 0xFF` is above every key with that prefix, and 0x00 can end a list.
//!
//! ```text
//! 05 MinKey      0A undefined     10 null
//! 20..35         numbers, see `number`
//! 40 string      escaped text (under a collator: its escaped sort key)
//! 48 document    fields, then 00; a field is: 1 + rank of the value's type
//!                class, name, 00, value
//! 50 array       values, then 00
//! 58 binary      length (4, counting the inner length of the old subtype),
//!                subtype (1), bytes
//! 60 ObjectId    12 bytes         68 false        69 true
//! 70 date        8 bytes, the sign bit flipped
//! 78 timestamp   seconds (4), increment (4)
//! 80 regex       pattern, 00, options, 00
//! 88 pointer     length of the namespace (4), namespace, 12 bytes
//! 90 code        escaped text     98 code with scope: escaped text, fields, 00
//! F0 MaxKey
//! ```
//!
//! Integers are big-endian. Escaped text is the bytes with each 00 as 00 FF, then
//! 00 01. A descending value has every byte inverted, tag included.
//!
//! `types` is a list of entries in the order of the values, at any depth: where
//! in `bytes` the value's tag is (a varint), a kind (see `types`), what the kind
//! needs. A value without an entry has the default type: string rather than
//! symbol; int32 if it fits, else int64, else double.

mod decode;
mod number;
mod skip;
#[cfg(test)]
mod tests;
mod types;

pub use decode::{decode, decode_prefix};
pub use skip::skip;

use crate::Collator;
use crate::element::{Elements, array_elements, elements};
use crate::order::class_of;
use crate::writer::db_pointer_bytes;
use bson::RawBsonRef;
use bson::spec::BinarySubtype;

/// First bytes of values, in the order of the type classes.
mod tag {
    pub const MIN_KEY: u8 = 0x05;
    pub const UNDEFINED: u8 = 0x0A;
    pub const NULL: u8 = 0x10;
    pub const STRING: u8 = 0x40;
    pub const DOCUMENT: u8 = 0x48;
    pub const ARRAY: u8 = 0x50;
    pub const BINARY: u8 = 0x58;
    pub const OBJECT_ID: u8 = 0x60;
    pub const FALSE: u8 = 0x68;
    pub const TRUE: u8 = 0x69;
    pub const DATE: u8 = 0x70;
    pub const TIMESTAMP: u8 = 0x78;
    pub const REGEX: u8 = 0x80;
    pub const POINTER: u8 = 0x88;
    pub const CODE: u8 = 0x90;
    pub const CODE_WITH_SCOPE: u8 = 0x98;
    pub const MAX_KEY: u8 = 0xF0;
}

/// Ends a list of fields or elements, and names.
const END: u8 = 0x00;
/// Follow a zero byte in escaped text.
const ESCAPED_ZERO: u8 = 0xFF;
const TEXT_END: u8 = 0x01;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// An encoded compound key under construction.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub bytes: Vec<u8>,
    /// What the bytes lose, in order; empty when nothing is lost.
    pub types: Vec<u8>,
}

impl Key {
    /// Appends one value. Each value's bytes are prefix-free, so compound keys
    /// compare field by field and descending is the bytes inverted.
    pub fn push(
        &mut self,
        value: RawBsonRef<'_>,
        direction: Direction,
        collator: Option<&Collator>,
    ) {
        let start = self.bytes.len();
        self.value(value, collator);
        if direction == Direction::Descending {
            self.bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// The key of one ascending value.
    pub fn of(value: RawBsonRef<'_>) -> Key {
        let mut key = Key::default();
        key.push(value, Direction::Ascending, None);
        key
    }

    fn value(&mut self, value: RawBsonRef<'_>, collator: Option<&Collator>) {
        match value {
            RawBsonRef::Int32(value) => self.int32(value),
            RawBsonRef::Int64(value) => self.int64(value),
            RawBsonRef::Double(value) => self.double(value),
            RawBsonRef::Decimal128(value) => self.decimal(value),
            RawBsonRef::String(text) => self.string(text, collator),
            RawBsonRef::Symbol(text) => {
                self.note(types::SYMBOL, &[]);
                self.string(text, collator);
            }
            RawBsonRef::Document(document) => {
                self.bytes.push(tag::DOCUMENT);
                self.fields(elements(document), collator);
            }
            RawBsonRef::Array(array) => {
                self.bytes.push(tag::ARRAY);
                array_elements(array).values().for_each(|value| self.value(value, collator));
                self.bytes.push(END);
            }
            RawBsonRef::Binary(binary) => {
                let inner = if binary.subtype == BinarySubtype::BinaryOld { 4 } else { 0 };
                self.bytes.push(tag::BINARY);
                self.length(binary.bytes.len() + inner);
                self.bytes.push(binary.subtype.into());
                self.bytes.extend_from_slice(binary.bytes);
            }
            RawBsonRef::ObjectId(id) => {
                self.bytes.push(tag::OBJECT_ID);
                self.bytes.extend_from_slice(&id.bytes());
            }
            RawBsonRef::Boolean(value) => {
                self.bytes.push(if value { tag::TRUE } else { tag::FALSE });
            }
            RawBsonRef::DateTime(date) => {
                self.bytes.push(tag::DATE);
                let flipped = date.timestamp_millis() as u64 ^ 1 << 63;
                self.bytes.extend_from_slice(&flipped.to_be_bytes());
            }
            RawBsonRef::Timestamp(value) => {
                self.bytes.push(tag::TIMESTAMP);
                self.bytes.extend_from_slice(&value.time.to_be_bytes());
                self.bytes.extend_from_slice(&value.increment.to_be_bytes());
            }
            RawBsonRef::RegularExpression(regex) => {
                self.bytes.push(tag::REGEX);
                self.name(regex.pattern.as_str());
                self.name(regex.options.as_str());
            }
            RawBsonRef::DbPointer(_) => self.pointer(value),
            RawBsonRef::JavaScriptCode(text) => {
                self.bytes.push(tag::CODE);
                self.escaped(text.as_bytes());
            }
            RawBsonRef::JavaScriptCodeWithScope(code) => {
                self.bytes.push(tag::CODE_WITH_SCOPE);
                self.escaped(code.code.as_bytes());
                self.fields(elements(code.scope), collator);
            }
            RawBsonRef::Undefined => self.bytes.push(tag::UNDEFINED),
            RawBsonRef::Null => self.bytes.push(tag::NULL),
            RawBsonRef::MinKey => self.bytes.push(tag::MIN_KEY),
            RawBsonRef::MaxKey => self.bytes.push(tag::MAX_KEY),
        }
    }

    /// Notes what the bytes of the value that comes next lose.
    fn note(&mut self, kind: u8, details: &[u8]) {
        types::append(&mut self.types, self.bytes.len(), kind, details);
    }

    fn string(&mut self, text: &str, collator: Option<&Collator>) {
        self.bytes.push(tag::STRING);
        match collator {
            None => self.escaped(text.as_bytes()),
            Some(collator) => {
                let mut sort_key = Vec::with_capacity(text.len() * 2);
                collator.sort_key(text, &mut sort_key);
                self.escaped(&sort_key);
            }
        }
    }

    fn fields(&mut self, fields: Elements<'_>, collator: Option<&Collator>) {
        for field in fields {
            self.bytes.push(class_of(field.kind) + 1);
            self.name(field.key);
            self.value(field.value(), collator);
        }
        self.bytes.push(END);
    }

    /// Text that cannot hold a zero byte.
    fn name(&mut self, name: &str) {
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(END);
    }

    fn escaped(&mut self, text: &[u8]) {
        let mut parts = text.split(|byte| *byte == 0);
        self.bytes.extend_from_slice(parts.next().unwrap_or(&[]));
        for part in parts {
            self.bytes.extend_from_slice(&[0, ESCAPED_ZERO]);
            self.bytes.extend_from_slice(part);
        }
        self.bytes.extend_from_slice(&[0, TEXT_END]);
    }

    fn length(&mut self, length: usize) {
        self.bytes.extend_from_slice(&(length as u32).to_be_bytes());
    }

    fn pointer(&mut self, value: RawBsonRef<'_>) {
        // The stored form has the length in front, little-endian, a zero counted.
        let stored = db_pointer_bytes(value);
        let namespace = stored.len().saturating_sub(4 + 1 + 12);
        self.bytes.push(tag::POINTER);
        self.length(namespace);
        self.bytes.extend_from_slice(stored.get(4..4 + namespace).unwrap_or(&[]));
        self.bytes.extend_from_slice(stored.get(4 + namespace + 1..).unwrap_or(&[]));
    }
}
