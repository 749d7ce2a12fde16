//! A consistent view of the store, as of one commit.

use super::document::Stored;
use super::large::{self, Large, Secret, TRAILER_BYTES};
use super::trees::{Pairs, Snapshot, Tree};
use super::{CollectionId, Document, IndexId, RecordId, failed, keys};
use error::{Code, Result};
use fjall::Slice;
use language::Needs;
use std::ops::Bound;
use std::sync::Arc;
use value::Path;

/// A snapshot. Cheap to clone; holds back garbage collection while it lives.
#[derive(Clone)]
pub struct View {
    snapshot: Arc<dyn Snapshot>,
    secret: Secret,
}

/// A stored record: the document, with its large values still out of line.
#[derive(Debug, Clone)]
pub struct Record {
    pub collection: CollectionId,
    pub id: RecordId,
    stored: Stored,
}

/// One index entry.
#[derive(Debug, Clone)]
pub struct Entry {
    pub record: RecordId,
    key: Slice,
    value: Slice,
    unique: bool,
}

/// Exact at the view's commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub documents: u64,
    pub bytes: u64,
}

pub struct Records {
    collection: CollectionId,
    pairs: Pairs,
}

pub struct Entries {
    unique: bool,
    pairs: Pairs,
}

impl View {
    pub(super) fn new(snapshot: Arc<dyn Snapshot>, secret: Secret) -> View {
        View { snapshot, secret }
    }

    /// The same view with changes on top that nobody else sees yet.
    pub fn layered(&self, on: impl FnOnce(Arc<dyn Snapshot>) -> Arc<dyn Snapshot>) -> View {
        View { snapshot: on(self.snapshot.clone()), secret: self.secret }
    }

    pub fn record(&self, collection: CollectionId, record: RecordId) -> Result<Option<Record>> {
        let bytes = self.get(Tree::Records, &keys::record(collection, record))?;
        bytes.map(|bytes| Record::new(collection, record, bytes)).transpose()
    }

    /// Records in natural order; double-ended.
    pub fn records(
        &self,
        collection: CollectionId,
        range: (Bound<RecordId>, Bound<RecordId>),
    ) -> Records {
        let key = |record| Slice::from(keys::record(collection, record));
        let (first, last) = keys::prefix(collection.0);
        let start = bound(range.0, key, first);
        let end = bound(range.1, key, last);
        Records { collection, pairs: self.range(Tree::Records, (start, end)) }
    }

    /// The entry with exactly this key in a unique index (one point read).
    pub fn unique(&self, index: IndexId, key: &[u8]) -> Result<Option<Entry>> {
        let key = keys::entry(index, key, None);
        let value = self.get(Tree::Entries, &key)?;
        value.map(|value| Entry::new(key.into(), value, true)).transpose()
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
        let (first, last) = keys::prefix(index.0);
        // A non-unique key goes on with its record id: past the key means past
        // the greatest record id, at the key means from the least.
        let low = |key: Vec<u8>| Slice::from(keys::entry(index, &key, None));
        let high = |key: Vec<u8>| {
            let record = (!unique).then_some(RecordId(u64::MAX));
            Slice::from(keys::entry(index, &key, record))
        };
        let start = match range.0 {
            Bound::Included(key) => Bound::Included(low(key)),
            Bound::Excluded(key) => Bound::Excluded(high(key)),
            Bound::Unbounded => first,
        };
        let end = match range.1 {
            Bound::Included(key) => Bound::Included(high(key)),
            Bound::Excluded(key) => Bound::Excluded(low(key)),
            Bound::Unbounded => last,
        };
        Entries { unique, pairs: self.range(Tree::Entries, (start, end)) }
    }

    pub fn counts(&self, collection: CollectionId) -> Result<Counts> {
        let row = self.get(Tree::Records, &keys::counts(collection))?;
        Ok(row.map_or_else(Counts::default, |row| Counts::read(&row)))
    }

    pub(super) fn snapshot(&self) -> &dyn Snapshot {
        &*self.snapshot
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }

    pub fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>> {
        self.snapshot.get(tree, key).map_err(failed)
    }

    /// Pairs of a tree in a range; an empty or inverted range holds none.
    pub fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        if is_empty(&range) {
            return Box::new(std::iter::empty());
        }
        self.snapshot.range(tree, range)
    }
}

fn bound<T>(bound: Bound<T>, key: impl Fn(T) -> Slice, open: Bound<Slice>) -> Bound<Slice> {
    match bound {
        Bound::Included(id) => Bound::Included(key(id)),
        Bound::Excluded(id) => Bound::Excluded(key(id)),
        Bound::Unbounded => open,
    }
}

fn is_empty(range: &(Bound<Slice>, Bound<Slice>)) -> bool {
    match range {
        (Bound::Included(a), Bound::Included(b)) => a > b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Excluded(b) | Bound::Included(b)) => {
            a >= b
        }
        _ => false,
    }
}

impl Counts {
    /// What they take in a row; more may follow.
    pub const BYTES: usize = 16;

    pub fn read(row: &[u8]) -> Counts {
        let number = |at: usize| {
            row.get(at..)
                .and_then(|bytes| bytes.first_chunk())
                .map_or(0, |n| u64::from_be_bytes(*n))
        };
        Counts { documents: number(0), bytes: number(8) }
    }

    pub fn write(self) -> [u8; Counts::BYTES] {
        let mut row = [0; Counts::BYTES];
        row[..8].copy_from_slice(&self.documents.to_be_bytes());
        row[8..].copy_from_slice(&self.bytes.to_be_bytes());
        row
    }
}

impl Record {
    fn new(collection: CollectionId, id: RecordId, bytes: Slice) -> Result<Record> {
        Ok(Record { collection, id, stored: Stored::new(bytes)? })
    }

    /// The document, with those large values loaded that `needs` looks at. What
    /// is not loaded is a stub: never to be shown, kept as it is by updates.
    pub fn load(&self, view: &View, needs: &Needs) -> Result<Document> {
        if self.next_large().is_none() {
            return Ok(Document::Stored(self.stored.clone()));
        }
        Ok(match large::join(view, self, self.stored.document(), needs)? {
            Some(document) => Document::Built(document),
            None => Document::Stored(self.stored.clone()),
        })
    }

    /// The document as it is stored, stubs and all.
    pub fn stored(&self) -> &bson::RawDocument {
        self.stored.document()
    }

    /// The large value at a path of sub-documents, or on the way there.
    pub fn large_at(&self, view: &View, path: &Path) -> Option<Large> {
        large::find(self.stored(), path, view.secret())
    }

    /// The number the next large value gets; `None` if there are no large values.
    pub fn next_large(&self) -> Option<u32> {
        self.trailer().map(|(next, _)| next)
    }

    /// The size of the whole document in bytes.
    pub fn size(&self) -> usize {
        match self.trailer() {
            Some((_, size)) => size as usize,
            None => self.stored.document().as_bytes().len(),
        }
    }

    fn trailer(&self) -> Option<(u32, u32)> {
        let trailer: &[u8; TRAILER_BYTES] = self.stored.trailer().first_chunk()?;
        let number = |at: usize| {
            u32::from_be_bytes([trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]])
        };
        Some((number(0), number(4)))
    }
}

pub(super) fn damaged_key() -> error::Error {
    Code::DataCorruptionDetected
        .error("a stored key is too short for its tree; restore the store from a backup")
}

impl Records {
    fn item(&self, pair: (Slice, Slice)) -> Result<(RecordId, Record)> {
        let id = keys::record_id(&pair.0).ok_or_else(damaged_key)?;
        Ok((id, Record::new(self.collection, id, pair.1)?))
    }
}

impl Iterator for Records {
    type Item = Result<(RecordId, Record)>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next()?;
        Some(pair.map_err(failed).and_then(|pair| self.item(pair)))
    }
}

impl DoubleEndedIterator for Records {
    fn next_back(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next_back()?;
        Some(pair.map_err(failed).and_then(|pair| self.item(pair)))
    }
}

impl Entry {
    fn new(key: Slice, value: Slice, unique: bool) -> Result<Entry> {
        let record = match unique {
            true => value.first_chunk().map(|record| RecordId(u64::from_be_bytes(*record))),
            false => keys::record_id(&key).filter(|_| key.len() >= INDEX_BYTES + RECORD_BYTES),
        };
        Ok(Entry { record: record.ok_or_else(damaged_key)?, key, value, unique })
    }

    /// The key's bytes (`value::key`), without the index's prefix and the record id.
    pub fn key(&self) -> &[u8] {
        let end = self.key.len() - if self.unique { 0 } else { RECORD_BYTES };
        &self.key[INDEX_BYTES..end]
    }

    /// What the key's bytes lose, for `value::key::decode`.
    pub fn types(&self) -> &[u8] {
        &self.value[if self.unique { RECORD_BYTES } else { 0 }..]
    }
}

/// The index id that an entry's key begins with.
const INDEX_BYTES: usize = 4;
/// The record id that ends the key, or begins the value in a unique index.
const RECORD_BYTES: usize = 8;

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next()?;
        Some(pair.map_err(failed).and_then(|(key, value)| Entry::new(key, value, self.unique)))
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next_back()?;
        Some(pair.map_err(failed).and_then(|(key, value)| Entry::new(key, value, self.unique)))
    }
}
