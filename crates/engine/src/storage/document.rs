//! A document read from the store.

use super::large::TRAILER_BYTES;
use bson::{RawDocument, RawDocumentBuf};
use budget::Held;
use error::{Code, Result};
use fjall::Slice;
use std::sync::Arc;

/// Either the stored bytes, shared and not copied, or a document put together.
#[derive(Debug, Clone)]
pub enum Document {
    Stored(StoredBytes),
    Built(RawDocumentBuf),
    Reserved(Arc<Reserved>),
}

/// A large document put together, with what it takes of the memory budget.
#[derive(Debug)]
pub struct Reserved {
    document: RawDocumentBuf,
    _memory: Held,
}

impl Document {
    /// A document for which memory was reserved before it was put together.
    pub fn reserved(document: RawDocumentBuf, memory: Held) -> Document {
        match memory.bytes() {
            0 => Document::Built(document),
            _ => Document::Reserved(Arc::new(Reserved { document, _memory: memory })),
        }
    }

    /// The same without its reservation, for those who keep it and count what they keep.
    pub fn uncounted(self) -> Document {
        match self {
            Document::Reserved(_) => Document::Built(self.into()),
            other => other,
        }
    }
}

/// Stored bytes: a whole document, then what policies keep beside it, if anything, then what
/// large values need, if there are any. Their lengths say which is there.
#[derive(Debug, Clone)]
pub struct StoredBytes {
    bytes: Slice,
    length: usize,
}

impl StoredBytes {
    pub fn new(bytes: Slice) -> Result<StoredBytes> {
        let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
        let document = bytes.get(..length).and_then(|bytes| RawDocument::from_bytes(bytes).ok());
        match document {
            Some(_) => Ok(StoredBytes { bytes, length }),
            None => Err(Code::DataCorruptionDetected
                .error("a record does not hold a document; restore the store from a backup")),
        }
    }

    pub fn document(&self) -> &RawDocument {
        #[expect(clippy::expect_used, reason = "`new` has made this very document once")]
        RawDocument::from_bytes(&self.bytes[..self.length]).expect("a checked document")
    }

    /// What policies keep beside the document.
    pub fn sidecar(&self) -> Option<&RawDocument> {
        RawDocument::from_bytes(self.after_document().0).ok()
    }

    /// What large values need.
    pub fn trailer(&self) -> &[u8] {
        self.after_document().1
    }

    /// The sidecar and the trailer.
    fn after_document(&self) -> (&[u8], &[u8]) {
        let rest = &self.bytes[self.length..];
        if rest.len() <= TRAILER_BYTES {
            return (&[], rest);
        }
        let length = rest.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
        rest.split_at_checked(length).unwrap_or((&[], &[]))
    }
}

impl std::ops::Deref for Document {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        match self {
            Document::Stored(stored) => stored.document(),
            Document::Built(document) => document,
            Document::Reserved(reserved) => &reserved.document,
        }
    }
}

impl From<Document> for RawDocumentBuf {
    fn from(document: Document) -> RawDocumentBuf {
        match document {
            Document::Stored(stored) => stored.document().to_owned(),
            Document::Built(document) => document,
            Document::Reserved(reserved) => match Arc::try_unwrap(reserved) {
                Ok(Reserved { document, .. }) => document,
                Err(shared) => shared.document.clone(),
            },
        }
    }
}
