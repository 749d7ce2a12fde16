//! A document read from the store.

use bson::{RawDocument, RawDocumentBuf};

/// Either the stored bytes, shared and not copied, or a document put together.
#[derive(Debug, Clone)]
pub enum Document {
    Stored(fjall::Slice),
    Built(RawDocumentBuf),
}

impl std::ops::Deref for Document {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        todo!()
    }
}
