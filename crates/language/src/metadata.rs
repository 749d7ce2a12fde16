//! What is known of a document beside its fields: where it is stored, what it was sorted
//! and found by. A document carries it to those who ask for it in fields of its own, put
//! after all others; whoever shows the document takes them off again.

use crate::aggregate::Documents;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use value::element::elements;
use value::{DocumentWriter, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadatum {
    IndexKey,
    RecordId,
    SortKey,
}

impl Metadatum {
    pub const ALL: [Metadatum; 3] = [Metadatum::RecordId, Metadatum::SortKey, Metadatum::IndexKey];

    /// The field that carries it.
    pub fn field(self) -> &'static str {
        match self {
            Metadatum::IndexKey => "$indexKey",
            Metadatum::RecordId => "$recordId",
            Metadatum::SortKey => "$sortKey",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Which metadata a query asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted(u8);

impl Wanted {
    pub fn any(self) -> bool {
        self.0 != 0
    }

    pub fn has(self, metadatum: Metadatum) -> bool {
        self.0 & metadatum.bit() != 0
    }
}

/// Takes note, while a query is parsed, of what it asks for.
#[derive(Debug, Default)]
pub struct Asked {
    metadata: AtomicU8,
    time: AtomicBool,
    /// What its constants take that it did not write out.
    folded_bytes: AtomicUsize,
}

impl Asked {
    pub fn note(&self, metadatum: Metadatum) {
        self.metadata.fetch_or(metadatum.bit(), Ordering::Relaxed);
    }

    pub fn wanted(&self) -> Wanted {
        Wanted(self.metadata.load(Ordering::Relaxed))
    }

    pub fn note_time(&self) {
        self.time.store(true, Ordering::Relaxed);
    }

    pub fn folded_bytes(&self) -> usize {
        self.folded_bytes.load(Ordering::Relaxed)
    }

    pub fn note_folded(&self, bytes: usize) {
        self.folded_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Whether what was parsed holds the time that the context had.
    pub fn is_of_its_time(&self) -> bool {
        self.time.load(Ordering::Relaxed)
    }
}

/// The document with metadata after its fields.
pub fn attach<'v>(
    document: &RawDocument,
    metadata: impl IntoIterator<Item = (Metadatum, RawBsonRef<'v>)>,
) -> RawDocumentBuf {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    elements(document).for_each(|field| out.copy(field));
    for (metadatum, value) in metadata {
        out.append(metadatum.field(), value);
    }
    out.finish()
}

/// What was made of a document, with the metadata that the document has.
pub fn carry(from: &RawDocument, made: RawDocumentBuf, wanted: Wanted) -> RawDocumentBuf {
    let of = |document, metadatum: Metadatum| value::element::get(document, metadatum.field());
    let lost: Vec<_> = Metadatum::ALL
        .into_iter()
        .filter(|metadatum| wanted.has(*metadatum) && of(&*made, *metadatum).is_none())
        .filter_map(|metadatum| Some((metadatum, of(from, metadatum)?.value())))
        .collect();
    match lost.is_empty() {
        true => made,
        false => attach(&made, lost),
    }
}

/// The document without one kind of metadata.
pub fn without(document: &RawDocument, metadatum: Metadatum) -> RawDocumentBuf {
    detach(document, Wanted(metadatum.bit()))
}

/// The document without the metadata that was asked for.
pub fn detach(document: &RawDocument, wanted: Wanted) -> RawDocumentBuf {
    let is_metadatum = |name: &str| {
        Metadatum::ALL.iter().any(|metadatum| wanted.has(*metadatum) && metadatum.field() == name)
    };
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    let fields = elements(document).filter(|field| !is_metadatum(field.key));
    fields.for_each(|field| out.copy(field));
    out.finish()
}

/// The document as clients know it, which is what it is but for the metadata it carries.
pub fn bare(document: &RawDocument, wanted: Wanted) -> Value<'_> {
    match wanted.any() {
        true => Value::Own(RawBson::Document(detach(document, wanted))),
        false => Value::Ref(RawBsonRef::Document(document)),
    }
}

/// The documents that leave a pipeline, without the metadata that its stages asked for.
pub fn detach_all(documents: Documents, wanted: Wanted) -> Documents {
    match wanted.any() {
        true => Box::new(documents.map(move |document| Ok(detach(&document?, wanted)))),
        false => documents,
    }
}
