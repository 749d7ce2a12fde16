//! Large values out of line.
//!
//! A field whose value passes `LARGE_VALUE_BYTES` is kept under a key of its
//! own, and the record holds a stub in its place: a write that does not change
//! the field copies the stub, a read that does not need it does not follow it.
//! Sub-documents are split further down, at the values that make them large.
//! Values that are known to stay as they are while their document changes are
//! kept apart from `COLD_VALUE_BYTES` on. A value that was loaded and comes back as
//! it was keeps its place.
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
use fjall::Slice;
use language::Needs;
use value::element::get;
use value::{DocumentWriter, Element, Path, elements};

/// What a value may weigh and still stand in its record.
pub const LARGE_VALUE_BYTES: usize = 16 * 1024;
/// The same for a value that seldom changes when its document does.
pub const COLD_VALUE_BYTES: usize = 1024;

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
    pub values: Vec<(u32, Slice)>,
    /// Numbers of the large values that stay as they are.
    pub kept: Vec<u32>,
    /// The size of the whole document.
    pub size: usize,
}

/// The document in whose place another one comes.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// As it is stored, stubs and all.
    pub stored: &'a RawDocument,
    /// The same with some of its large values.
    pub loaded: &'a RawDocument,
    /// The first number that is free.
    pub next: u32,
}

impl<'a> Before<'a> {
    /// The same for a sub-document.
    fn inside(self, key: &str) -> Option<Before<'a>> {
        let inner = |document| get(document, key).and_then(|it| inner(&it));
        Some(Before { stored: inner(self.stored)?, loaded: inner(self.loaded)?, ..self })
    }

    /// The stub of a value that is the same as it was.
    fn unchanged(self, value: &Element<'_>, secret: &Secret) -> Option<(Stub, Element<'a>)> {
        let stored = get(self.stored, value.key)?;
        let stub = Stub::read(&stored, secret)?;
        let was = get(self.loaded, value.key)?;
        (was.kind == value.kind && was.bytes == value.bytes).then_some((stub, stored))
    }
}

/// Takes a document apart, if it is large. Without one `before` it, it holds no stubs
/// yet, as it came from a client. `cold` are the paths of values that seldom change.
pub fn split(
    document: &RawDocument,
    before: Option<Before<'_>>,
    secret: &Secret,
    cold: &[&Path],
) -> Split {
    let size = document.as_bytes().len();
    let whole = || Split {
        record: document.as_bytes().to_vec(),
        values: Vec::new(),
        kept: Vec::new(),
        size,
    };
    if before.is_none() && size <= LARGE_VALUE_BYTES && cold.is_empty() {
        return whole();
    }
    let mut splitter = Splitter {
        secret,
        stubs: before.is_some(),
        next: before.map_or(0, |before| before.next),
        values: Vec::new(),
        kept: Vec::new(),
        grown: 0,
        writer: DocumentWriter::new(),
    };
    splitter.document(document, Depth { level: 0, cold, before });
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
    values: Vec<(u32, Slice)>,
    kept: Vec<u32>,
    /// What the stubs stand for, beyond their own size.
    grown: usize,
    writer: DocumentWriter,
}

/// Where in a document the splitter is.
#[derive(Clone, Copy)]
struct Depth<'a> {
    level: usize,
    /// The cold paths that lead here.
    cold: &'a [&'a Path],
    /// What was here before.
    before: Option<Before<'a>>,
}

impl Splitter<'_> {
    fn document(&mut self, document: &RawDocument, at: Depth<'_>) {
        for element in elements(document) {
            let names = |path: &&&Path| path.component(at.level) == element.key;
            if at.level == 0 && element.key == "_id" {
                self.writer.copy(element);
            } else if let Some(stub) = self.stub(&element) {
                self.keep(stub, element);
            } else if at.cold.iter().any(|path| names(&path) && path.len() == at.level + 1) {
                self.place(element, at.before, COLD_VALUE_BYTES);
            } else {
                let cold: Vec<&Path> = at.cold.iter().filter(names).copied().collect();
                match self.inner(&element, !cold.is_empty()) {
                    Some(inner) => {
                        let before = at.before.and_then(|before| before.inside(element.key));
                        self.writer.begin_document(element.key);
                        self.document(inner, Depth { level: at.level + 1, cold: &cold, before });
                        self.writer.end();
                    }
                    None => self.place(element, at.before, LARGE_VALUE_BYTES),
                }
            }
        }
    }

    fn place(&mut self, element: Element<'_>, before: Option<Before<'_>>, bytes_max: usize) {
        if element.bytes.len() <= bytes_max {
            return self.writer.copy(element);
        }
        match before.and_then(|before| before.unchanged(&element, self.secret)) {
            Some((stub, stored)) => self.keep(stub, stored),
            None => self.take(element),
        }
    }

    fn keep(&mut self, stub: Stub, stored: Element<'_>) {
        self.kept.push(stub.number);
        self.grown += (stub.length as usize).saturating_sub(stored.bytes.len());
        self.writer.copy(stored);
    }

    fn stub(&self, element: &Element<'_>) -> Option<Stub> {
        if self.stubs { Stub::read(element, self.secret) } else { None }
    }

    /// A sub-document that is large, or may hold stubs or something cold.
    fn inner<'a>(&self, element: &Element<'a>, cold: bool) -> Option<&'a RawDocument> {
        let look = element.kind == ElementType::EmbeddedDocument
            && (self.stubs || cold || element.bytes.len() > LARGE_VALUE_BYTES);
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
        self.values.push((stub.number, element.bytes.into()));
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
    u32::try_from(array.children().count()).unwrap_or(u32::MAX)
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

/// A value that is kept out of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Large {
    /// Whether it is the one at the path that was asked for, not one on the way.
    pub at_path: bool,
    pub bytes: usize,
    /// How many elements an array has, where its stub knows.
    pub items: Option<u32>,
}

/// The large value at a path of sub-documents, or the one on the way there.
pub fn find(document: &RawDocument, path: &Path, secret: &Secret) -> Option<Large> {
    let mut fields = elements(document);
    for at in 0..path.len() {
        let field = fields.find_key(path.component(at))?;
        if let Some(stub) = Stub::read(&field, secret) {
            return Some(Large {
                at_path: at + 1 == path.len(),
                bytes: stub.length as usize,
                items: stub.items.filter(|_| stub.kind == ElementType::Array),
            });
        }
        if field.kind != ElementType::EmbeddedDocument {
            return None;
        }
        fields = field.children();
    }
    None
}

/// The numbers of the large values a record holds.
pub fn numbers(document: &RawDocument, secret: &Secret) -> Vec<u32> {
    let before = Before { stored: document, loaded: document, next: 0 };
    split(document, Some(before), secret, &[]).kept
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
        let mut path = String::new();
        if !self.wants(document, &mut path) {
            return Ok(None);
        }
        let mut writer = DocumentWriter::with_capacity(size);
        self.document(document, &mut path, &mut writer)?;
        Ok(Some(writer.finish()))
    }

    /// Whether there is a stub to follow. Asked first: most often there is none, and
    /// then nothing is copied.
    fn wants(&self, document: &RawDocument, path: &mut String) -> bool {
        elements(document).any(|element| {
            let parent = enter(path, element.key);
            let wants = match inner(&element) {
                Some(inner) => self.wants(inner, path),
                None => Stub::read(&element, self.secret).is_some() && self.needs_value(path),
            };
            path.truncate(parent);
            wants
        })
    }

    fn document(
        &self,
        document: &RawDocument,
        path: &mut String,
        writer: &mut DocumentWriter,
    ) -> Result<()> {
        for element in elements(document) {
            let parent = enter(path, element.key);
            match (Stub::read(&element, self.secret), inner(&element)) {
                (Some(stub), _) if self.needs_value(path) => {
                    self.load(stub, element.key, writer)?
                }
                (None, Some(inner)) => {
                    writer.begin_document(element.key);
                    self.document(inner, path, writer)?;
                    writer.end();
                }
                _ => writer.copy(element),
            }
            path.truncate(parent);
        }
        Ok(())
    }

    fn needs_value(&self, path: &str) -> bool {
        self.needs.contains(&Path::new(path))
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

/// Goes down to a field, and gives back what to cut the path to on the way up.
fn enter(path: &mut String, key: &str) -> usize {
    let parent = path.len();
    if parent > 0 {
        path.push('.');
    }
    path.push_str(key);
    parent
}

fn inner<'a>(element: &Element<'a>) -> Option<&'a RawDocument> {
    match element.kind {
        ElementType::EmbeddedDocument => element.value().as_document(),
        _ => None,
    }
}
