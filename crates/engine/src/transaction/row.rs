//! A document a transaction holds an intent on.

use crate::catalog::Collection;
use crate::storage::{Document, Record};
use bson::RawDocument;
use std::ops::Deref;
use std::sync::Arc;

pub struct Row {
    pub collection: Arc<Collection>,
    /// As it is stored.
    pub record: Record,
    /// With the large values among its needs.
    pub document: Document,
}

impl write::StoredRow for Row {
    fn sidecar(&self) -> Option<&RawDocument> {
        self.record.sidecar()
    }
}

impl Deref for Row {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        &self.document
    }
}
