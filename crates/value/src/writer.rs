//! Building raw documents and arrays by appending, elements copied as bytes.

use crate::element::zero_position;
use crate::{Element, OwnedValue};
use bson::spec::{BinarySubtype, ElementType};
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use std::sync::OnceLock;

/// Appends fields to a document; sub-documents are written in place.
#[derive(Debug)]
pub struct DocumentWriter {
    bytes: Vec<u8>,
    /// The sub-documents and arrays that are open, outermost first.
    open: Vec<Open>,
}

/// A document or array whose end has not been written.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Where its length belongs.
    start: usize,
    /// The number of the next element, if it is an array that numbers itself.
    next: u32,
}

impl Default for DocumentWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl DocumentWriter {
    pub fn new() -> Self {
        Self::with_capacity(64)
    }

    /// A writer with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::reuse(Vec::with_capacity(bytes))
    }

    /// Makes room for so many bytes more, so that they are written without another copy.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Writes into a vector that was used before; its contents are dropped.
    pub fn reuse(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&[0; 4]);
        DocumentWriter { bytes, open: Vec::new() }
    }

    /// Goes on where a finished document ends.
    pub fn resume(document: RawDocumentBuf) -> Self {
        let mut bytes = document.into_bytes();
        bytes.pop();
        DocumentWriter { bytes, open: Vec::new() }
    }

    pub fn append(&mut self, key: &str, value: RawBsonRef<'_>) {
        self.header(value.element_type(), key);
        write_value(&mut self.bytes, value);
    }

    pub fn append_bool(&mut self, key: &str, value: bool) {
        self.append(key, RawBsonRef::Boolean(value));
    }

    pub fn append_document(&mut self, key: &str, value: &RawDocument) {
        self.append(key, RawBsonRef::Document(value));
    }

    pub fn append_f64(&mut self, key: &str, value: f64) {
        self.append(key, RawBsonRef::Double(value));
    }

    pub fn append_i32(&mut self, key: &str, value: i32) {
        self.append(key, RawBsonRef::Int32(value));
    }

    pub fn append_i64(&mut self, key: &str, value: i64) {
        self.append(key, RawBsonRef::Int64(value));
    }

    /// An int32 where the number fits, an int64 elsewhere.
    pub fn append_number(&mut self, key: &str, value: i64) {
        match i32::try_from(value) {
            Ok(value) => self.append_i32(key, value),
            Err(_) => self.append_i64(key, value),
        }
    }

    pub fn append_null(&mut self, key: &str) {
        self.append(key, RawBsonRef::Null);
    }

    pub fn append_str(&mut self, key: &str, value: &str) {
        self.append(key, RawBsonRef::String(value));
    }

    /// Copies an element, key and all.
    pub fn copy(&mut self, element: Element<'_>) {
        self.copy_as(element.key, element);
    }

    /// Copies an element's value under another key.
    pub fn copy_as(&mut self, key: &str, element: Element<'_>) {
        self.header(element.kind, key);
        self.bytes.extend_from_slice(element.bytes);
    }

    /// Copies every element of a document.
    pub fn copy_all(&mut self, document: &RawDocument) {
        let bytes = document.as_bytes();
        self.bytes.extend_from_slice(bytes.get(4..bytes.len() - 1).unwrap_or(&[]));
    }

    /// Opens a sub-document; what is appended next goes into it until `end`.
    pub fn begin_document(&mut self, key: &str) {
        self.header(ElementType::EmbeddedDocument, key);
        self.begin();
    }

    /// Opens an array. Its elements either number themselves (`push`, `copy_next`,
    /// `begin_next_document`, `begin_next_array`) or are appended under keys "0",
    /// "1", … given by the caller.
    pub fn begin_array(&mut self, key: &str) {
        self.header(ElementType::Array, key);
        self.begin();
    }

    /// Opens an array that begins with the `len` elements of another, copied as they
    /// are; further ones number themselves from there.
    pub fn begin_array_with(&mut self, key: &str, array: Element<'_>, len: usize) {
        self.begin_array(key);
        let elements = array.bytes.get(4..array.bytes.len().saturating_sub(1));
        self.copy_numbered(elements.unwrap_or(&[]), u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Appends the next element of the innermost open array.
    pub fn push(&mut self, value: RawBsonRef<'_>) {
        self.next_header(value.element_type());
        write_value(&mut self.bytes, value);
    }

    /// Copies an element's value as the next element of the innermost open array.
    pub fn copy_next(&mut self, element: Element<'_>) {
        self.next_header(element.kind);
        self.bytes.extend_from_slice(element.bytes);
    }

    /// The number of the next element of the innermost open array.
    pub fn next_number(&self) -> u32 {
        self.open.last().map_or(0, |open| open.next)
    }

    /// Copies elements that have the numbers which are next in the innermost open array.
    pub fn copy_numbered(&mut self, elements: &[u8], count: u32) {
        self.bytes.extend_from_slice(elements);
        if let Some(open) = self.open.last_mut() {
            open.next += count;
        }
    }

    /// Opens a document as the next element of the innermost open array.
    pub fn begin_next_document(&mut self) {
        self.next_header(ElementType::EmbeddedDocument);
        self.begin();
    }

    /// Opens an array as the next element of the innermost open array.
    pub fn begin_next_array(&mut self) {
        self.next_header(ElementType::Array);
        self.begin();
    }

    /// Closes the innermost open sub-document or array.
    pub fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            self.close(open.start);
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= 4
    }

    /// The document; what is still open is closed.
    pub fn finish(self) -> RawDocumentBuf {
        // The bytes have the shape that is checked here, so there is no error.
        RawDocumentBuf::from_bytes(self.into_bytes()).unwrap_or_default()
    }

    /// The bytes of the document; what is still open is closed.
    pub fn into_bytes(mut self) -> Vec<u8> {
        while !self.open.is_empty() {
            self.end();
        }
        self.close(0);
        self.bytes
    }

    fn begin(&mut self) {
        self.open.push(Open { start: self.bytes.len(), next: 0 });
        self.bytes.extend_from_slice(&[0; 4]);
    }

    fn close(&mut self, start: usize) {
        self.bytes.push(0);
        let len = (self.bytes.len() - start) as i32;
        self.bytes[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    /// A key cannot hold a zero byte: it would end there and garble the rest, so
    /// it is cut there. Callers that compute keys refuse such keys before.
    #[inline]
    fn header(&mut self, kind: ElementType, key: &str) {
        self.bytes.push(kind as u8);
        let key = key.as_bytes();
        let end = zero_position(key).unwrap_or(key.len());
        self.bytes.extend_from_slice(&key[..end]);
        self.bytes.push(0);
    }

    #[inline]
    fn next_header(&mut self, kind: ElementType) {
        let number = self.open.last_mut().map_or(0, |open| {
            let number = open.next;
            open.next += 1;
            number
        });
        write_header(&mut self.bytes, kind, number);
    }
}

/// Appends values to an array, numbering them.
#[derive(Debug)]
pub struct ArrayWriter {
    /// The array as a document whose keys are numbers, or the document that it is a field of.
    writer: DocumentWriter,
    /// Where the array begins in that.
    start: usize,
    len: u32,
}

/// How many nulls are kept ready.
const READY_NULLS: usize = 1 << 16;

/// The bytes of the first elements of an array, if they are null.
fn ready_nulls() -> &'static [u8] {
    static NULLS: OnceLock<Vec<u8>> = OnceLock::new();
    NULLS.get_or_init(|| {
        let mut writer = ArrayWriter::new();
        (0..READY_NULLS).for_each(|_| writer.push(RawBsonRef::Null));
        // Its length comes first.
        writer.writer.bytes.split_off(4)
    })
}

/// What the first elements of an array weigh, if they are null.
pub fn null_bytes(count: usize) -> usize {
    // A type, the digits of a number, and what ends them.
    let (mut bytes, mut power) = (3 * count, 10);
    while power < count {
        bytes += count - power;
        power *= 10;
    }
    bytes
}

impl Default for ArrayWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl ArrayWriter {
    pub fn new() -> Self {
        ArrayWriter { writer: DocumentWriter::new(), start: 0, len: 0 }
    }

    /// An array that is the next field of a document: it is written where it belongs.
    pub fn within(mut writer: DocumentWriter, key: &str) -> Self {
        writer.begin_array(key);
        let start = writer.len() - 4;
        ArrayWriter { writer, start, len: 0 }
    }

    /// The document that it was begun in, the array ended.
    pub fn end(mut self) -> DocumentWriter {
        self.writer.end();
        self.writer
    }

    /// An array of documents.
    pub fn documents(documents: &[&RawDocument]) -> RawArrayBuf {
        let mut writer = ArrayWriter::new();
        documents.iter().for_each(|document| writer.push(RawBsonRef::Document(document)));
        writer.finish()
    }

    pub fn push(&mut self, value: RawBsonRef<'_>) {
        self.header(value.element_type());
        write_value(&mut self.writer.bytes, value);
    }

    pub fn copy(&mut self, element: Element<'_>) {
        self.header(element.kind);
        self.writer.bytes.extend_from_slice(element.bytes);
    }

    /// Makes room for so many bytes more.
    pub fn reserve(&mut self, bytes: usize) {
        self.writer.reserve(bytes);
    }

    /// Nulls, so many of them.
    pub fn push_nulls(&mut self, count: usize) {
        let mut left = count;
        if self.len == 0 {
            // The first ones are the same bytes in every array.
            let ready = count.min(READY_NULLS);
            self.writer.bytes.extend_from_slice(&ready_nulls()[..null_bytes(ready)]);
            self.len = ready as u32;
            left -= ready;
        }
        (0..left).for_each(|_| self.push(RawBsonRef::Null));
    }

    /// Elements written so far.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> usize {
        self.writer.len() - self.start
    }

    /// The array on its own. Its elements are counted once more; `finish_into` writes it where it
    /// belongs without that.
    pub fn finish(self) -> RawArrayBuf {
        RawArrayBuf::deserialize(Given(self.writer.into_bytes())).unwrap_or_default()
    }

    /// What it takes in memory, with the room for more.
    pub fn room(&self) -> usize {
        self.writer.bytes.capacity()
    }

    /// The array on its own, as bytes: neither copied nor counted.
    pub fn finish_value(self) -> OwnedValue {
        OwnedValue::array(self.writer.finish())
    }

    /// Appends the array to a document.
    pub fn finish_into(self, document: &mut DocumentWriter, key: &str) {
        document.header(ElementType::Array, key);
        document.bytes.extend_from_slice(&self.writer.into_bytes());
    }

    fn header(&mut self, kind: ElementType) {
        write_header(&mut self.writer.bytes, kind, self.len);
        self.len += 1;
    }
}

/// Bytes that an array takes over without a copy: the bson crate offers no other safe way.
struct Given(Vec<u8>);

impl<'de> Deserializer<'de> for Given {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_byte_buf(self.0)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// The type and the key of an element of an array: its number in decimal digits. In one go, since
/// long arrays are copied element by element.
#[inline]
fn write_header(out: &mut Vec<u8>, kind: ElementType, mut number: u32) {
    // A type, up to ten digits, and the zero that ends them.
    let mut header = [0u8; 12];
    let mut at = header.len() - 1;
    loop {
        at -= 1;
        header[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    at -= 1;
    header[at] = kind as u8;
    out.extend_from_slice(&header[at..]);
}

/// Appends a value's bytes, without type and key.
pub(crate) fn write_value(out: &mut Vec<u8>, value: RawBsonRef<'_>) {
    match value {
        RawBsonRef::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
        RawBsonRef::String(text) | RawBsonRef::JavaScriptCode(text) | RawBsonRef::Symbol(text) => {
            write_string(out, text);
        }
        RawBsonRef::Array(array) => out.extend_from_slice(array.as_bytes()),
        RawBsonRef::Document(document) => out.extend_from_slice(document.as_bytes()),
        RawBsonRef::Boolean(value) => out.push(value.into()),
        RawBsonRef::Null | RawBsonRef::Undefined | RawBsonRef::MaxKey | RawBsonRef::MinKey => {}
        RawBsonRef::RegularExpression(regex) => {
            out.extend_from_slice(regex.pattern.as_str().as_bytes());
            out.push(0);
            out.extend_from_slice(regex.options.as_str().as_bytes());
            out.push(0);
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            let scope = code.scope.as_bytes();
            let len = 4 + 4 + code.code.len() + 1 + scope.len();
            out.extend_from_slice(&(len as i32).to_le_bytes());
            write_string(out, code.code);
            out.extend_from_slice(scope);
        }
        RawBsonRef::Int32(value) => out.extend_from_slice(&value.to_le_bytes()),
        RawBsonRef::Int64(value) => out.extend_from_slice(&value.to_le_bytes()),
        RawBsonRef::Timestamp(value) => {
            out.extend_from_slice(&value.increment.to_le_bytes());
            out.extend_from_slice(&value.time.to_le_bytes());
        }
        RawBsonRef::Binary(binary) => {
            let len = (binary.bytes.len() as i32).to_le_bytes();
            let old = binary.subtype == BinarySubtype::BinaryOld;
            let outer = binary.bytes.len() as i32 + if old { 4 } else { 0 };
            out.extend_from_slice(&outer.to_le_bytes());
            out.push(binary.subtype.into());
            if old {
                out.extend_from_slice(&len);
            }
            out.extend_from_slice(binary.bytes);
        }
        RawBsonRef::ObjectId(id) => out.extend_from_slice(&id.bytes()),
        RawBsonRef::DateTime(date) => {
            out.extend_from_slice(&date.timestamp_millis().to_le_bytes());
        }
        RawBsonRef::Decimal128(value) => out.extend_from_slice(&value.bytes()),
        RawBsonRef::DbPointer(_) => out.extend_from_slice(&db_pointer_bytes(value)),
    }
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as i32 + 1).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// The value bytes of a deprecated pointer, whose fields bson keeps to itself:
/// the length of the namespace, the namespace, a zero, the twelve bytes of the id.
pub(crate) fn db_pointer_bytes(value: RawBsonRef<'_>) -> Vec<u8> {
    let mut wrapper = RawDocumentBuf::new();
    wrapper.append(bson::raw::cstr!(""), value);
    let bytes = wrapper.into_bytes();
    // Length, type, empty key in front; the end of the document behind.
    bytes.get(6..bytes.len() - 1).unwrap_or(&[]).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use bson::rawdoc;

    #[test]
    fn documents_nest_and_arrays_number_themselves() {
        let mut writer = DocumentWriter::new();
        writer.append_i32("a", 1);
        writer.begin_array("list");
        for number in 0..120 {
            writer.begin_next_document();
            writer.append_i32("n", number);
            writer.end();
        }
        writer.end();
        writer.append_str("z", "end");
        let document = writer.finish();
        check::document(document.as_bytes(), 8).unwrap();
        let list = document.get_array("list").unwrap();
        assert_eq!(crate::element::array_len(list), 120);
        let last = crate::element::array_elements(list).last().unwrap();
        assert_eq!(last.key, "119");
        assert_eq!(document.get_str("z").unwrap(), "end");
    }

    #[test]
    fn nulls_are_written_as_if_one_by_one() {
        for count in [0, 1, 10, 11, 100, 101, 12_345, READY_NULLS, READY_NULLS + 3] {
            let mut single = ArrayWriter::new();
            (0..count).for_each(|_| single.push(RawBsonRef::Null));
            let mut together = ArrayWriter::new();
            together.push_nulls(count);
            assert_eq!(together.len(), count);
            let (single, together) = (single.finish(), together.finish());
            assert_eq!(together, single, "{count}");
            assert_eq!(together.as_bytes().len(), null_bytes(count) + 5, "{count}");
        }
    }

    #[test]
    fn what_is_left_open_is_closed() {
        let mut writer = DocumentWriter::new();
        writer.begin_document("a");
        writer.begin_document("b");
        assert_eq!(writer.finish(), rawdoc! { "a": { "b": {} } });
    }

    #[test]
    fn a_key_is_cut_at_a_zero_byte() {
        let mut writer = DocumentWriter::new();
        writer.append_i32("a\0b", 1);
        assert_eq!(writer.finish(), rawdoc! { "a": 1 });
    }

    #[test]
    fn a_finished_document_can_be_resumed() {
        let mut writer = DocumentWriter::resume(rawdoc! { "a": 1 });
        writer.append_i32("b", 2);
        assert_eq!(writer.finish(), rawdoc! { "a": 1, "b": 2 });
    }

    #[test]
    fn an_array_writer_numbers_past_ten() {
        let mut writer = ArrayWriter::new();
        for number in 0..12 {
            writer.push(RawBsonRef::Int32(number));
        }
        let array = writer.finish();
        assert_eq!(array.get_i32(11).unwrap(), 11);
    }
}
