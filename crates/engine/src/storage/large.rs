//! Large values out of line.
//!
//! A field whose value passes `LARGE_VALUE_BYTES` is kept under a key of its
//! own, and the record holds a stub in its place: a write that does not change
//! the field copies the stub, a read that does not need it does not follow it.
//! Sub-documents are split further down, at the values that make them large.
//!
//! A stub is a binary value of subtype `STUB` with the payload
//!
//! ```text
//! 0   secret  8 bytes   the store's own, so that no client can forge a stub
//! 8   number  u32       the value's key is <collection> <record> <number>
//! 12  type    u8        its BSON type
//! 13  length  u32       its size in bytes
//! 17  items   u32       of an array, how many elements it has
//! ```
//!
//! (stubs that were written before there were `items` end without)
//!
//! and a record that holds stubs ends, after its document, with
//!
//! ```text
//! 0   next    u32       the number the next large value gets
//! 4   size    u32       the size of the whole document
//! ```

use super::trees::{Snapshot, Tree};
use super::{CollectionId, Record, RecordId, View, failed, keys};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use language::Needs;
use value::{DocumentWriter, Element, Path, elements};

/// What a value may weigh and still stand in its record.
pub const LARGE_VALUE_BYTES: usize = 16 * 1024;

const STUB: u8 = 0xFB;
const PAYLOAD_BYTES: usize = 21;
/// Length and subtype of a stub.
const HEADER_BYTES: usize = 4 + 1;
const STUB_BYTES: usize = HEADER_BYTES + PAYLOAD_BYTES;
/// A stub that does not know how many elements it stands for.
const SHORT_STUB_BYTES: usize = STUB_BYTES - 4;
pub const TRAILER_BYTES: usize = 8;

pub type Secret = [u8; 8];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stub {
    number: u32,
    kind: ElementType,
    length: u32,
    items: Option<u32>,
}

impl Stub {
    fn read(element: &Element<'_>, secret: &Secret) -> Option<Stub> {
        let size = element.bytes.len();
        if element.kind != ElementType::Binary || !matches!(size, STUB_BYTES | SHORT_STUB_BYTES) {
            return None;
        }
        let payload = element.bytes.get(4..)?.strip_prefix(&[STUB])?.strip_prefix(secret)?;
        let (number, payload) = payload.split_first_chunk()?;
        let (kind, payload) = payload.split_first()?;
        Some(Stub {
            number: u32::from_be_bytes(*number),
            kind: ElementType::from(*kind)?,
            length: u32::from_be_bytes(*payload.first_chunk()?),
            items: payload.get(4..)?.first_chunk().map(|items| u32::from_be_bytes(*items)),
        })
    }

    fn write(self, key: &str, secret: &Secret, writer: &mut DocumentWriter) {
        let mut bytes = [0; STUB_BYTES];
        bytes[..4].copy_from_slice(&(PAYLOAD_BYTES as u32).to_le_bytes());
        bytes[4] = STUB;
        bytes[5..13].copy_from_slice(secret);
        bytes[13..17].copy_from_slice(&self.number.to_be_bytes());
        bytes[17] = self.kind as u8;
        bytes[18..22].copy_from_slice(&self.length.to_be_bytes());
        bytes[22..].copy_from_slice(&self.items.unwrap_or(0).to_be_bytes());
        writer.copy(Element { kind: ElementType::Binary, key, bytes: &bytes });
    }
}

/// A document taken apart for storage.
pub struct Split {
    /// The record's bytes: the document with stubs, and the trailer.
    pub record: Vec<u8>,
    /// New large values and their numbers.
    pub values: Vec<(u32, Vec<u8>)>,
    /// Numbers of the large values that stay as they are.
    pub kept: Vec<u32>,
    /// The size of the whole document.
    pub size: usize,
}

/// Takes a document apart, if it is large. `next` is the first number free;
/// `None` says that the document holds no stubs yet, as it came from a client.
pub fn split(document: &RawDocument, next: Option<u32>, secret: &Secret) -> Split {
    let size = document.as_bytes().len();
    let whole = || Split {
        record: document.as_bytes().to_vec(),
        values: Vec::new(),
        kept: Vec::new(),
        size,
    };
    if next.is_none() && size <= LARGE_VALUE_BYTES {
        return whole();
    }
    let mut splitter = Splitter {
        secret,
        stubs: next.is_some(),
        next: next.unwrap_or(0),
        values: Vec::new(),
        kept: Vec::new(),
        grown: 0,
        writer: DocumentWriter::new(),
    };
    splitter.document(document, true);
    if splitter.values.is_empty() && splitter.kept.is_empty() {
        return whole();
    }
    let inline = splitter.writer.finish();
    let size = inline.as_bytes().len() + splitter.grown;
    let mut record = inline.into_bytes();
    record.extend_from_slice(&splitter.next.to_be_bytes());
    record.extend_from_slice(&(size as u32).to_be_bytes());
    Split { record, values: splitter.values, kept: splitter.kept, size }
}

struct Splitter<'a> {
    secret: &'a Secret,
    /// Whether stubs may stand in the document.
    stubs: bool,
    next: u32,
    values: Vec<(u32, Vec<u8>)>,
    kept: Vec<u32>,
    /// What the stubs stand for, beyond their own size.
    grown: usize,
    writer: DocumentWriter,
}

impl Splitter<'_> {
    fn document(&mut self, document: &RawDocument, top: bool) {
        for element in elements(document) {
            if top && element.key == "_id" {
                self.writer.copy(element);
            } else if let Some(stub) = self.stub(&element) {
                self.kept.push(stub.number);
                self.grown += (stub.length as usize).saturating_sub(element.bytes.len());
                self.writer.copy(element);
            } else if let Some(inner) = self.inner(&element) {
                self.writer.begin_document(element.key);
                self.document(inner, false);
                self.writer.end();
            } else if element.bytes.len() > LARGE_VALUE_BYTES {
                self.take(element);
            } else {
                self.writer.copy(element);
            }
        }
    }

    fn stub(&self, element: &Element<'_>) -> Option<Stub> {
        if self.stubs { Stub::read(element, self.secret) } else { None }
    }

    /// A sub-document that is large, or may hold stubs.
    fn inner<'a>(&self, element: &Element<'a>) -> Option<&'a RawDocument> {
        let look = element.kind == ElementType::EmbeddedDocument
            && (self.stubs || element.bytes.len() > LARGE_VALUE_BYTES);
        if look { element.value().as_document() } else { None }
    }

    fn take(&mut self, element: Element<'_>) {
        let stub = Stub {
            number: self.next,
            kind: element.kind,
            length: element.bytes.len() as u32,
            items: (element.kind == ElementType::Array).then(|| items(&element)),
        };
        self.next += 1;
        self.grown += element.bytes.len() - STUB_BYTES;
        self.values.push((stub.number, element.bytes.to_vec()));
        stub.write(element.key, self.secret, &mut self.writer);
    }
}

/// The size of a record's document, or a successor's, with its large values.
pub fn size(document: &RawDocument, secret: &Secret) -> usize {
    let mut size = document.as_bytes().len();
    for element in elements(document) {
        size += grown(&element, secret);
    }
    size
}

/// What the stubs in an element stand for, beyond their own size.
fn grown(element: &Element<'_>, secret: &Secret) -> usize {
    match Stub::read(element, secret) {
        Some(stub) => (stub.length as usize).saturating_sub(element.bytes.len()),
        None if element.kind == ElementType::EmbeddedDocument => {
            element.children().map(|child| grown(&child, secret)).sum()
        }
        None => 0,
    }
}

/// How many elements an array has.
pub fn items(array: &Element<'_>) -> u32 {
    u32::try_from(array.children().items().count()).unwrap_or(u32::MAX)
}

/// A value that stands elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    pub kind: ElementType,
    /// How many elements an array has, where its stub knows.
    pub items: Option<u32>,
}

/// What an element stands for, if it is a stub; nothing is loaded for it.
pub fn hidden(element: &Element<'_>, secret: &Secret) -> Option<Hidden> {
    Stub::read(element, secret).map(|stub| Hidden {
        kind: stub.kind,
        items: stub.items.filter(|_| stub.kind == ElementType::Array),
    })
}

/// The numbers of the large values a record holds.
pub fn numbers(document: &RawDocument, secret: &Secret) -> Vec<u32> {
    split(document, Some(0), secret).kept
}

/// The document of a record, or a successor of it, with the large values loaded
/// that `needs` looks at; `None` if there was nothing to load.
pub fn join(
    view: &View,
    record: &Record,
    document: &RawDocument,
    needs: &Needs,
) -> Result<Option<RawDocumentBuf>> {
    let joiner = Joiner {
        snapshot: view.snapshot(),
        collection: record.collection,
        record: record.id,
        secret: view.secret(),
        needs,
    };
    joiner.join(document, record.size())
}

/// Puts back the large values that `needs` looks at; the others stay stubs.
struct Joiner<'a> {
    snapshot: &'a dyn Snapshot,
    collection: CollectionId,
    record: RecordId,
    secret: &'a Secret,
    needs: &'a Needs,
}

impl Joiner<'_> {
    fn join(&self, document: &RawDocument, size: usize) -> Result<Option<RawDocumentBuf>> {
        if matches!(self.needs, Needs::Paths(paths) if paths.is_empty()) {
            return Ok(None);
        }
        let mut writer = DocumentWriter::with_capacity(size);
        let mut path = String::new();
        let loaded = self.document(document, &mut path, &mut writer)?;
        Ok(loaded.then(|| writer.finish()))
    }

    fn document(
        &self,
        document: &RawDocument,
        path: &mut String,
        writer: &mut DocumentWriter,
    ) -> Result<bool> {
        let mut loaded = false;
        for element in elements(document) {
            let parent = path.len();
            if parent > 0 {
                path.push('.');
            }
            path.push_str(element.key);
            if let Some(stub) = Stub::read(&element, self.secret) {
                if self.needs.contains(&Path::new(path)) {
                    self.load(stub, element.key, writer)?;
                    loaded = true;
                } else {
                    writer.copy(element);
                }
            } else if let Some(inner) = inner(&element) {
                writer.begin_document(element.key);
                loaded |= self.document(inner, path, writer)?;
                writer.end();
            } else {
                writer.copy(element);
            }
            path.truncate(parent);
        }
        Ok(loaded)
    }

    fn load(&self, stub: Stub, key: &str, writer: &mut DocumentWriter) -> Result<()> {
        let at = keys::large(self.collection, self.record, stub.number);
        let bytes = self.snapshot.get(Tree::Large, &at).map_err(failed)?;
        let Some(bytes) = bytes.filter(|bytes| bytes.len() == stub.length as usize) else {
            return Err(Code::DataCorruptionDetected.error(format!(
                "record {} of collection {} misses its large value {} (field '{key}'); \
                 restore the store from a backup",
                self.record.0, self.collection.0, stub.number
            )));
        };
        writer.copy(Element { kind: stub.kind, key, bytes: &bytes });
        Ok(())
    }
}

fn inner<'a>(element: &Element<'a>) -> Option<&'a RawDocument> {
    match element.kind {
        ElementType::EmbeddedDocument => element.value().as_document(),
        _ => None,
    }
}
