//! Index entries of large commits, which follow their commit into the tree in small batches.
//!
//! A document may have a million index keys, and each takes the tree about a microsecond: as
//! one batch they would keep every other writer waiting for a second. So a commit with more
//! than [`ENTRIES_AT_ONCE_MAX`] of them writes them packed, as a few large values in its own
//! atomic batch, which takes little more than copying them. From then on snapshots show them
//! on top of the tree ([`Backlog::snapshot`]), and the committer adds them to the tree piece by
//! piece, between the batches of others. The last piece removes the packed rows.
//!
//! Why this is sound:
//!
//! - Atomic and durable: the packed rows are part of the commit's batch. The pieces only repeat
//!   what these rows say, and batches survive in order, so a crash leaves either the rows, whose
//!   entries the next start adds again ([`Backlog::open`], idempotent), or all entries.
//! - Isolated: a snapshot shows deferred entries if and only if it has the row that names them,
//!   so the trees alone decide what it sees. The commit holds its intents and gates until the
//!   last piece is applied: nobody writes these keys, or drops their index, meanwhile.

mod pack;
mod snapshot;
#[cfg(test)]
mod tests;

use super::trees::{Change, Failure, Range, Snapshot, Tree, Trees};
use super::{failed, keys};
use arc_swap::ArcSwap;
use error::Result;
use fjall::Slice;
use snapshot::OnTop;
use std::ops;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A commit with more index entries than these has them deferred.
pub const ENTRIES_AT_ONCE_MAX: usize = 16 * 1024;
/// What is added to the tree in one batch. Other commits wait for no more than this.
pub const PIECE_ENTRIES: usize = 2 * 1024;

/// New values by key; `None` is a removal.
pub type Entry = (Slice, Option<Slice>);

/// Entries of one commit, as they are and as they are stored until they are in the tree.
pub struct Packed {
    entries: Vec<Entry>,
    rows: Vec<Slice>,
}

/// Entries of one commit that snapshots show on top of the tree.
pub struct Deferred {
    number: u64,
    /// In the order of keys, each once.
    entries: Vec<Entry>,
    /// How many rows they are stored in.
    rows: u32,
}

/// What has still to be added to the tree.
pub struct Backlog {
    trees: Arc<dyn Trees>,
    shown: ArcSwap<Vec<Arc<Deferred>>>,
    last: AtomicU64,
}

impl Packed {
    /// Takes the entries out of a commit's changes if they are too many for one batch. The
    /// changes are in order, tree by tree.
    pub fn take(changes: &mut Vec<Change>) -> Option<Packed> {
        let start = changes.partition_point(|change| change.tree < Tree::Entries);
        let count = changes[start..].partition_point(|change| change.tree == Tree::Entries);
        if count <= ENTRIES_AT_ONCE_MAX {
            return None;
        }
        let taken = changes.drain(start..start + count);
        let entries: Vec<Entry> = taken.map(|Change { key, value, .. }| (key, value)).collect();
        let rows = pack::rows(&entries);
        Some(Packed { entries, rows })
    }

    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    pub fn size_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.len()).sum()
    }
}

impl Deferred {
    fn get(&self, key: &[u8]) -> Option<&Option<Slice>> {
        let found = self.entries.binary_search_by(|(other, _)| (**other).cmp(key));
        found.ok().map(|at| &self.entries[at].1)
    }

    /// Where the keys of a range stand.
    fn span(&self, (low, high): &Range) -> ops::Range<usize> {
        use ops::Bound::{Excluded, Included, Unbounded};
        let start = self.entries.partition_point(|(key, _)| match low {
            Included(low) => key < low,
            Excluded(low) => key <= low,
            Unbounded => false,
        });
        let end = self.entries.partition_point(|(key, _)| match high {
            Included(high) => key <= high,
            Excluded(high) => key < high,
            Unbounded => true,
        });
        start..end.max(start)
    }

    /// The batch that adds the entries from here on, and where the next begins; the last one
    /// removes the rows.
    pub fn piece(&self, from: usize) -> (Vec<Change>, Option<usize>) {
        let to = self.entries.len().min(from + PIECE_ENTRIES);
        let added = self.entries[from..to].iter().cloned();
        let added = added.map(|(key, value)| Change { tree: Tree::Entries, key, value });
        if to < self.entries.len() {
            return (added.collect(), Some(to));
        }
        let removed = |tree, key| Change { tree, key, value: None };
        let rows = (0..self.rows).map(|row| keys::packed(self.number, row));
        let rows = rows.map(|key| removed(Tree::Large, key));
        let mark = removed(Tree::Records, keys::deferred(self.number));
        (added.chain(rows).chain([mark]).collect(), None)
    }
}

impl Backlog {
    /// Adds to the tree what an earlier process has left to be added.
    pub fn open(trees: Arc<dyn Trees>) -> Result<Backlog> {
        for deferred in left(&*trees.snapshot())? {
            tracing::info!(entries = deferred.entries.len(), "adding index entries of a commit");
            let mut next = Some(0);
            while let Some(from) = next {
                let (changes, rest) = deferred.piece(from);
                trees.apply(changes).map_err(failed)?;
                next = rest;
            }
        }
        Ok(Backlog { trees, shown: ArcSwap::default(), last: AtomicU64::new(0) })
    }

    /// The trees as of the last commit, whatever of it is still to be added.
    pub fn snapshot(&self) -> Arc<dyn Snapshot> {
        loop {
            let shown = self.shown.load();
            let snapshot = self.trees.snapshot();
            // Entries are listed before their commit is applied and until their last piece
            // is, so a list that has stayed the same has all that the snapshot may lack.
            if !Arc::ptr_eq(&shown, &self.shown.load()) {
                continue;
            }
            return match shown.is_empty() {
                true => snapshot,
                false => OnTop::over(snapshot, &shown),
            };
        }
    }

    /// Has snapshots show entries from the moment when the changes are applied, to which what
    /// stores them is added. One thread at a time.
    pub fn add(&self, packed: Packed, changes: &mut Vec<Change>) -> Arc<Deferred> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let Packed { entries, rows } = packed;
        let deferred = Arc::new(Deferred { number, entries, rows: rows.len() as u32 });
        let mark = (deferred.rows).to_be_bytes().into();
        changes.push(Change {
            tree: Tree::Records,
            key: keys::deferred(number),
            value: Some(mark),
        });
        changes.extend(rows.into_iter().zip(0..).map(|(row, at)| Change {
            tree: Tree::Large,
            key: keys::packed(number, at),
            value: Some(row),
        }));
        let listed = self.shown.load().iter().cloned().chain([deferred.clone()]).collect();
        self.shown.store(Arc::new(listed));
        deferred
    }

    /// Once the last piece is applied. One thread at a time, and not while one is added.
    pub fn remove(&self, deferred: &Arc<Deferred>) {
        let shown = self.shown.load();
        let others = shown.iter().filter(|other| !Arc::ptr_eq(other, deferred)).cloned().collect();
        self.shown.store(Arc::new(others));
    }
}

/// What an earlier process has left to be added.
fn left(snapshot: &dyn Snapshot) -> Result<Vec<Deferred>> {
    let marks = snapshot.range(Tree::Records, keys::rows(keys::DEFERRED_ROWS));
    marks.map(|mark| read(snapshot, mark).map_err(failed)).collect()
}

fn read(
    snapshot: &dyn Snapshot,
    mark: std::result::Result<(Slice, Slice), Failure>,
) -> std::result::Result<Deferred, Failure> {
    let (key, value) = mark?;
    let number = keys::deferred_number(&key).ok_or_else(pack::damaged)?;
    let rows = u32::from_be_bytes(*value.first_chunk().ok_or_else(pack::damaged)?);
    let mut entries = Vec::new();
    for row in 0..rows {
        let packed = snapshot.get(Tree::Large, &keys::packed(number, row))?;
        pack::read(&packed.ok_or_else(pack::damaged)?, &mut entries).ok_or_else(pack::damaged)?;
    }
    Ok(Deferred { number, entries, rows })
}
