//! A document as it is stored, with what policies keep beside it.

use bson::{RawDocument, RawDocumentBuf};
use std::ops::Deref;

/// A stored document. Its *sidecar* is what the collection's policy keeps of it where no client
/// sees, matches or writes it: on a cluster the hidden field `_freeboard`, here beside it.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    pub document: &'a RawDocument,
    pub sidecar: Option<&'a RawDocument>,
}

/// What a backend gives of a stored document.
pub trait StoredRow: Deref<Target = RawDocument> + Send + Sync {
    fn sidecar(&self) -> Option<&RawDocument>;

    fn version(&self) -> Version<'_> {
        Version { document: self, sidecar: self.sidecar() }
    }
}

impl<'a> From<&'a RawDocument> for Version<'a> {
    /// A document that has nothing beside it.
    fn from(document: &'a RawDocument) -> Version<'a> {
        Version { document, sidecar: None }
    }
}

impl<'a> From<&'a RawDocumentBuf> for Version<'a> {
    fn from(document: &'a RawDocumentBuf) -> Version<'a> {
        Version::from(&**document)
    }
}

/// What becomes of the sidecar in a write.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Sidecar {
    #[default]
    Stays,
    /// `None`: nothing is kept any more.
    Becomes(Option<RawDocumentBuf>),
}

impl Sidecar {
    pub fn changes(&self) -> bool {
        matches!(self, Sidecar::Becomes(_))
    }

    /// What it is after the write.
    pub fn after<'a>(&'a self, before: Option<&'a RawDocument>) -> Option<&'a RawDocument> {
        match self {
            Sidecar::Stays => before,
            Sidecar::Becomes(after) => after.as_deref(),
        }
    }
}
