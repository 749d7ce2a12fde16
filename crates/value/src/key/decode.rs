//! Reading keys back.

use super::types::{self, Entry};
use super::{Direction, END, ESCAPED_ZERO, Key, TEXT_END, number, tag};
use crate::DocumentWriter;
use crate::{element, value};
use bson::raw::{RawBinaryRef, RawJavaScriptCodeWithScopeRef, RawRegexRef};
use bson::spec::{BinarySubtype, ElementType};
use bson::{
    Binary, DateTime, Decimal128, RawBson, RawBsonRef, RawDocument, Timestamp, oid::ObjectId,
};

/// Values nest no deeper than stored documents do, with some room.
const DEPTH_MAX: usize = 256;

/// Reads the values of a key back, exactly. Not for keys made with a collator.
/// `None` if the bytes are no such key.
pub fn decode(bytes: &[u8], types: &[u8], directions: &[Direction]) -> Option<Vec<RawBson>> {
    let (values, len) = decode_prefix(bytes, types, directions)?;
    (len == bytes.len()).then_some(values)
}

/// As `decode`, with more bytes allowed behind; also says how many were read.
pub fn decode_prefix(
    bytes: &[u8],
    types: &[u8],
    directions: &[Direction],
) -> Option<(Vec<RawBson>, usize)> {
    let mut reader = Reader { bytes, at: 0, mask: 0, types };
    let mut values = Vec::with_capacity(directions.len());
    for direction in directions {
        reader.mask = if *direction == Direction::Descending { 0xFF } else { 0 };
        values.push(reader.owned()?);
    }
    reader.types.is_empty().then_some((values, reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What the bytes are inverted with.
    mask: u8,
    types: &'a [u8],
}

impl Reader<'_> {
    fn owned(&mut self) -> Option<RawBson> {
        let mut writer = DocumentWriter::new();
        self.value("", &mut writer, 0)?;
        let wrapper = writer.finish();
        Some(value::to_owned(element::elements(&wrapper).next()?.value()))
    }

    fn value(&mut self, key: &str, out: &mut DocumentWriter, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        let start = self.at;
        let tag = self.byte()?;
        match tag {
            number::NEGATIVE_MIN..=number::LARGE | number::NAN => {
                let value = self.number(start, tag)?;
                out.append(key, value);
            }
            tag::STRING => {
                let text = self.escaped()?;
                match self.entry(start) {
                    None => out.append(key, RawBsonRef::String(&text)),
                    Some(Entry::Symbol) => out.append(key, RawBsonRef::Symbol(&text)),
                    Some(_) => return None,
                }
            }
            tag::DOCUMENT => {
                out.begin_document(key);
                self.fields(out, depth)?;
                out.end();
            }
            tag::ARRAY => {
                out.begin_array(key);
                let mut index = 0u32;
                while self.peek()? != END {
                    self.value(&index.to_string(), out, depth + 1)?;
                    index += 1;
                }
                self.byte()?;
                out.end();
            }
            tag::POINTER => {
                let stored = self.pointer()?;
                out.append(key, element::value(ElementType::DbPointer, &stored));
            }
            tag::CODE => out.append(key, RawBsonRef::JavaScriptCode(&self.escaped()?)),
            tag::CODE_WITH_SCOPE => {
                let code = self.escaped()?;
                let mut scope = DocumentWriter::new();
                self.fields(&mut scope, depth)?;
                let scope: &RawDocument = &scope.finish();
                let value = RawJavaScriptCodeWithScopeRef { code: &code, scope };
                out.append(key, RawBsonRef::JavaScriptCodeWithScope(value));
            }
            tag::BINARY => {
                let binary = self.binary()?;
                let value = RawBinaryRef { subtype: binary.subtype, bytes: &binary.bytes };
                out.append(key, RawBsonRef::Binary(value));
            }
            tag::REGEX => {
                let (pattern, options) = (self.name()?, self.name()?);
                let pattern = pattern.as_str().try_into().ok()?;
                let options = options.as_str().try_into().ok()?;
                out.append(key, RawBsonRef::RegularExpression(RawRegexRef { pattern, options }));
            }
            _ => {
                let value = self.fixed(tag)?;
                out.append(key, value);
            }
        }
        Some(())
    }

    /// Values whose length the tag tells.
    fn fixed(&mut self, tag: u8) -> Option<RawBsonRef<'static>> {
        Some(match tag {
            tag::MIN_KEY => RawBsonRef::MinKey,
            tag::UNDEFINED => RawBsonRef::Undefined,
            tag::NULL => RawBsonRef::Null,
            tag::OBJECT_ID => RawBsonRef::ObjectId(ObjectId::from_bytes(self.array()?)),
            tag::FALSE => RawBsonRef::Boolean(false),
            tag::TRUE => RawBsonRef::Boolean(true),
            tag::DATE => {
                let flipped = u64::from_be_bytes(self.array()?);
                RawBsonRef::DateTime(DateTime::from_millis((flipped ^ 1 << 63) as i64))
            }
            tag::TIMESTAMP => RawBsonRef::Timestamp(Timestamp {
                time: u32::from_be_bytes(self.array()?),
                increment: u32::from_be_bytes(self.array()?),
            }),
            tag::MAX_KEY => RawBsonRef::MaxKey,
            _ => return None,
        })
    }

    fn fields(&mut self, out: &mut DocumentWriter, depth: usize) -> Option<()> {
        while self.byte()? != END {
            let name = self.name()?;
            self.value(&name, out, depth + 1)?;
        }
        Some(())
    }

    /// A number whose tag has been read. What is rebuilt from a type entry is
    /// checked against the bytes.
    fn number(&mut self, start: usize, tag: u8) -> Option<RawBsonRef<'static>> {
        let default = self.number_by_bytes(tag)?;
        let entry = self.entry(start);
        let value = match (entry, default) {
            (None, Some(default)) => return Some(default),
            (Some(Entry::Int64), Some(RawBsonRef::Int32(value))) => RawBsonRef::Int64(value.into()),
            (Some(Entry::Int64), Some(_)) => RawBsonRef::Int64(i64::MIN),
            (Some(Entry::Double), Some(RawBsonRef::Int32(value))) => {
                RawBsonRef::Double(value.into())
            }
            (Some(Entry::Double), Some(RawBsonRef::Int64(value))) => {
                RawBsonRef::Double(value as f64)
            }
            (Some(Entry::NegativeZero), Some(RawBsonRef::Int32(0))) => RawBsonRef::Double(-0.0),
            (Some(Entry::DoubleBits(bits)), Some(_)) => {
                RawBsonRef::Double(f64::from_be_bytes(bits))
            }
            (Some(Entry::Decimal(bytes)), _) => {
                RawBsonRef::Decimal128(Decimal128::from_bytes(bytes))
            }
            _ => return None,
        };
        let again = Key::of(value).bytes;
        let same = self.bytes[start..self.at].iter().map(|byte| byte ^ self.mask).eq(again);
        same.then_some(value)
    }

    /// What the bytes say alone; the inner `None` is a value that only a decimal
    /// has, of which the bytes are passed over.
    fn number_by_bytes(&mut self, tag: u8) -> Option<Option<RawBsonRef<'static>>> {
        match tag {
            number::NAN => return Some(Some(RawBsonRef::Double(f64::NAN))),
            number::ZERO => return Some(Some(RawBsonRef::Int32(0))),
            _ => {}
        }
        let negative = tag < number::ZERO;
        let tag = if negative { 2 * number::ZERO - tag } else { tag };
        let flip = if negative { 0xFF } else { 0 };
        self.mask ^= flip;
        let value = self.magnitude(tag);
        self.mask ^= flip;
        let value = value?;
        Some(value.map(|value| match (value, negative) {
            (Magnitude::Whole(whole), false) => integer(whole as i64),
            (Magnitude::Whole(whole), true) => integer(-(whole as i64)),
            (Magnitude::Double(double), false) => RawBsonRef::Double(double),
            (Magnitude::Double(double), true) => RawBsonRef::Double(-double),
        }))
    }

    fn magnitude(&mut self, tag: u8) -> Option<Option<Magnitude>> {
        if matches!(tag, number::SMALL | number::LARGE) {
            let double = f64::from_be_bytes(self.array()?);
            return Some(self.rest()?.then_some(Magnitude::Double(double)));
        }
        let mut doubled = 0u64;
        for _ in number::MIDDLE..tag {
            doubled = doubled << 8 | u64::from(self.byte()?);
        }
        let whole = doubled >> 1;
        if doubled & 1 == 0 {
            return Some(Some(Magnitude::Whole(whole)));
        }
        let fraction = u64::from_be_bytes(self.array()?);
        let double = whole as f64 + fraction as f64 / 18_446_744_073_709_551_616.0;
        Some(self.rest()?.then_some(Magnitude::Double(double)))
    }

    /// Passes over the rest of a number and says whether what came before is all.
    fn rest(&mut self) -> Option<bool> {
        match self.byte()? {
            number::EXACT => Some(true),
            number::INEXACT => {
                self.array::<2>()?;
                while self.byte()? != 0 {}
                Some(false)
            }
            _ => None,
        }
    }

    /// The entry for the value whose tag is at `start`, if it has one.
    fn entry(&mut self, start: usize) -> Option<Entry> {
        let (at, entry, rest) = types::split_first(self.types)?;
        if at != start {
            return None;
        }
        self.types = rest;
        Some(entry)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).map(|byte| byte ^ self.mask)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut array: [u8; N] = *self.bytes.get(self.at..)?.first_chunk()?;
        self.at += N;
        array.iter_mut().for_each(|byte| *byte ^= self.mask);
        Some(array)
    }

    fn take(&mut self, len: usize) -> Option<Vec<u8>> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken.iter().map(|byte| byte ^ self.mask).collect())
    }

    fn name(&mut self) -> Option<String> {
        let rest = self.bytes.get(self.at..)?;
        let len = rest.iter().position(|byte| byte ^ self.mask == END)?;
        let name = self.take(len)?;
        self.at += 1;
        String::from_utf8(name).ok()
    }

    fn escaped(&mut self) -> Option<String> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                0 => match self.byte()? {
                    ESCAPED_ZERO => text.push(0),
                    TEXT_END => return String::from_utf8(text).ok(),
                    _ => return None,
                },
                byte => text.push(byte),
            }
        }
    }

    fn binary(&mut self) -> Option<Binary> {
        let len = u32::from_be_bytes(self.array()?) as usize;
        let subtype = BinarySubtype::from(self.byte()?);
        let inner = if subtype == BinarySubtype::BinaryOld { 4 } else { 0 };
        Some(Binary { subtype, bytes: self.take(len.checked_sub(inner)?)? })
    }

    /// The stored form of a pointer.
    fn pointer(&mut self) -> Option<Vec<u8>> {
        let len = u32::from_be_bytes(self.array()?);
        let namespace = String::from_utf8(self.take(len as usize)?).ok()?;
        let mut stored = (i32::try_from(len).ok()?.checked_add(1)?).to_le_bytes().to_vec();
        stored.extend_from_slice(namespace.as_bytes());
        stored.push(0);
        stored.extend_from_slice(&self.array::<12>()?);
        Some(stored)
    }
}

/// A number without its sign.
#[derive(Debug, Clone, Copy)]
enum Magnitude {
    Whole(u64),
    Double(f64),
}

/// The default type of an integer.
fn integer(value: i64) -> RawBsonRef<'static> {
    i32::try_from(value).map_or(RawBsonRef::Int64(value), RawBsonRef::Int32)
}
