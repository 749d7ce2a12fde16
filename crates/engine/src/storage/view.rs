//! A consistent view of the store, as of one commit.

use super::{CollectionId, Document, IndexId, RecordId};
use error::Result;
use language::Needs;
use std::ops::Bound;

/// A snapshot. Cheap to clone; holds back garbage collection while it lives.
#[derive(Clone)]
pub struct View {}

/// A stored record: the document, with its large values still out of line.
#[derive(Debug, Clone)]
pub struct Record {}

/// One index entry.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key's bytes (`value::key`), without the index's prefix and the record id.
    pub key: fjall::Slice,
    /// What the key's bytes lose, for `value::key::decode`.
    pub types: fjall::Slice,
    pub record: RecordId,
}

/// Exact at the view's commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub documents: u64,
    pub bytes: u64,
}

pub struct Records {}
pub struct Entries {}

impl View {
    pub fn record(&self, collection: CollectionId, record: RecordId) -> Result<Option<Record>> {
        let _ = (collection, record);
        todo!()
    }

    /// Records in natural order; double-ended.
    pub fn records(
        &self,
        collection: CollectionId,
        range: (Bound<RecordId>, Bound<RecordId>),
    ) -> Records {
        let _ = (collection, range);
        todo!()
    }

    /// The entry with exactly this key in a unique index (one point read).
    pub fn unique(&self, index: IndexId, key: &[u8]) -> Result<Option<Entry>> {
        let _ = (index, key);
        todo!()
    }

    /// Entries whose key lies in a range, in key order; double-ended. `unique`
    /// tells how the index stores its keys. Bounds compare with whole keys: a
    /// prefix of a compound key is bounded above by its bytes followed by 0xFF.
    pub fn entries(
        &self,
        index: IndexId,
        unique: bool,
        range: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    ) -> Entries {
        let _ = (index, unique, range);
        todo!()
    }

    pub fn counts(&self, collection: CollectionId) -> Result<Counts> {
        let _ = collection;
        todo!()
    }
}

impl Record {
    /// The document, with those large values loaded that `needs` looks at. What
    /// is not loaded is a stub: never to be shown, kept as it is by updates.
    pub fn load(&self, view: &View, needs: &Needs) -> Result<Document> {
        let _ = (view, needs);
        todo!()
    }
}

impl Iterator for Records {
    type Item = Result<(RecordId, Record)>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

impl DoubleEndedIterator for Records {
    fn next_back(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Self::Item> {
        todo!()
    }
}
