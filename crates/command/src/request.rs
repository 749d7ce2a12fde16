//! A command and its reply as they travel between layers: raw, checked BSON.

use bson::{RawDocument, RawDocumentBuf};
use bytes::Bytes;

/// One command. Its documents have passed `value::check`.
#[derive(Debug, Clone)]
pub struct Request {
    body: Bytes,
    sequences: Vec<Sequence>,
}

/// An OP_MSG document sequence: `documents` of an insert, `updates`, `deletes` …
#[derive(Debug, Clone)]
pub struct Sequence {
    pub name: String,
    /// Documents back to back.
    pub documents: Bytes,
}

/// The reply's body, `ok` included.
#[derive(Debug, Clone)]
pub struct Reply {
    pub body: RawDocumentBuf,
}

impl Request {
    /// The caller has checked `body` and every document of `sequences`.
    pub fn new(body: Bytes, sequences: Vec<Sequence>) -> Request {
        Request { body, sequences }
    }

    pub fn body(&self) -> &RawDocument {
        todo!()
    }

    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// The first field's name, which names the command.
    pub fn name(&self) -> &str {
        let _ = &self.body;
        todo!()
    }

    /// `$db`.
    pub fn database(&self) -> &str {
        todo!()
    }

    /// The documents of a field, whether they came as a sequence or in the body.
    pub fn documents<'a>(&'a self, field: &str) -> error::Result<Vec<&'a RawDocument>> {
        let _ = field;
        todo!()
    }
}
