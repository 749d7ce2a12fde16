//! A consistent view of the store, as of one commit: what gives reads their isolation.

use super::document::StoredBytes;
use super::entry::{self, Entries, Entry};
use super::large::{self, Large, Secret, TRAILER_BYTES};
use super::trees::{Pairs, Tree, TreeSnapshot};
use super::{CollectionId, Document, IndexId, RecordId, failed, keys};
use budget::{Held, Kind};
use error::{Code, Result};
use fjall::Slice;
use language::Needs;
use std::ops::Bound;
use std::sync::Arc;
use value::Path;

/// A snapshot. Cheap to clone; holds back garbage collection while it lives.
#[derive(Clone)]
pub struct View {
    snapshot: Arc<dyn TreeSnapshot>,
    secret: Secret,
}

/// A stored record: the document, with its large values still out of line.
#[derive(Debug, Clone)]
pub struct Record {
    pub collection: CollectionId,
    pub id: RecordId,
    stored: StoredBytes,
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

impl View {
    pub(super) fn new(snapshot: Arc<dyn TreeSnapshot>, secret: Secret) -> View {
        View { snapshot, secret }
    }

    /// The same view with changes on top that nobody else sees yet.
    pub fn layered(&self, on: impl FnOnce(Arc<dyn TreeSnapshot>) -> Arc<dyn TreeSnapshot>) -> View {
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

    /// The entry with exactly this key in an index of bare keys (one point read).
    pub fn unique(&self, index: IndexId, key: &[u8]) -> Result<Option<Entry>> {
        self.entry(index, key, None)
    }

    /// The entry of a key, and of a record unless the index has bare keys (one point read).
    pub fn entry(
        &self,
        index: IndexId,
        key: &[u8],
        record: Option<RecordId>,
    ) -> Result<Option<Entry>> {
        let place = entry::place(index, key, record);
        let Some(value) = self.get(Tree::Entries, &place)? else { return Ok(None) };
        let found = Entry::read(place.into(), value, record.is_none())?;
        // Only what a hash stands for can be another key.
        let is_it = key.len() <= entry::WHOLE_KEY_BYTES_MAX || found.key() == key;
        Ok(is_it.then_some(found))
    }

    /// Every entry of a whole key, in the order of the records.
    pub fn entries_of(&self, index: IndexId, bare: bool, key: &[u8]) -> Entries {
        Entries::of(self.snapshot.clone(), index, bare, key)
    }

    /// Entries with keys from `low` up to, not including, `high`, in order; no `high` is no
    /// end. `bare` says whether the index has bare keys. Bounds may be of any length, and
    /// compare with whole keys: a prefix of a compound key is bounded above by its successor.
    pub fn entries(&self, index: IndexId, bare: bool, low: &[u8], high: Option<&[u8]>) -> Entries {
        Entries::between(self.snapshot.clone(), index, bare, low, high)
    }

    /// Every entry of an index, in order.
    pub fn all_entries(&self, index: IndexId, bare: bool) -> Entries {
        self.entries(index, bare, &[], None)
    }

    pub fn counts(&self, collection: CollectionId) -> Result<Counts> {
        let row = self.get(Tree::Records, &keys::counts(collection))?;
        Ok(row.map_or_else(Counts::default, |row| Counts::read(&row)))
    }

    pub(super) fn snapshot(&self) -> &dyn TreeSnapshot {
        &*self.snapshot
    }

    pub fn secret(&self) -> &Secret {
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

pub(super) fn is_empty(range: &(Bound<Slice>, Bound<Slice>)) -> bool {
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
        Ok(Record { collection, id, stored: StoredBytes::new(bytes)? })
    }

    /// The document, with those large values loaded that `needs` looks at. What
    /// is not loaded is a stub: never to be shown, kept as it is by updates.
    pub fn load(&self, view: &View, needs: &Needs) -> Result<Document> {
        if self.next_large().is_none() {
            return Ok(Document::Stored(self.stored.clone()));
        }
        let mut memory = Held::new(Kind::Work);
        let joined = large::join_within(view, self, self.stored.document(), needs, &mut memory)?;
        Ok(match joined {
            Some(document) => Document::reserved(document, memory),
            None => Document::Stored(self.stored.clone()),
        })
    }

    /// The document as it is stored, stubs and all.
    pub fn stored(&self) -> &bson::RawDocument {
        self.stored.document()
    }

    /// What policies keep beside the document.
    pub fn sidecar(&self) -> Option<&bson::RawDocument> {
        self.stored.sidecar()
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
