//! Changes of large commits, which follow their commit into the trees in small batches.
//!
//! A document may have a million index keys, and a transaction may write a million documents;
//! each takes the trees about a microsecond: as one batch they would keep every other writer
//! waiting for seconds. So a commit with more than [`CHANGES_AT_ONCE_MAX`] of them writes them
//! packed, as a few large values, which takes little more than copying them. From then on
//! snapshots show them on top of the trees ([`Backlog::snapshot`]), and the committer adds them
//! to the trees piece by piece, between the batches of others. The last piece removes the packed
//! rows.
//!
//! Why this is sound:
//!
//! - Atomic and durable: a mark in the commit's batch names the packed rows, which are part of
//!   that batch or, if they are many, of batches before it ([`Packed::stage`]). The pieces only repeat
//!   what these rows say, and batches survive in order, so a crash leaves rows without a mark,
//!   which the next start removes; or the mark and its rows, whose changes the next start makes
//!   again ([`Backlog::open`], idempotent); or all changes.
//! - Isolated: a snapshot shows deferred changes if and only if it has the mark, so the trees
//!   alone decide what it sees. The commit holds its intents and gates until the last piece is
//!   applied: nobody writes these keys, or drops their collection or index, meanwhile. Rows of
//!   the catalog have no such owner and are never deferred.

mod changes;
mod pack;
mod snapshot;
mod stage;
#[cfg(test)]
mod tests;

use super::trees::{Failure, Tree, TreeChange, TreeSnapshot, Trees};
use super::{failed, keys};
use arc_swap::ArcSwap;
use budget::{Held, Kind};
pub use changes::{DeferredChanges, FREED_ASIDE_MIN, find};
use error::Result;
use fjall::Slice;
use snapshot::OnTop;
pub use stage::Staged;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A commit with more changes than these has them deferred.
pub const CHANGES_AT_ONCE_MAX: usize = 16 * 1024;
/// What is added to the trees in one batch. Other commits wait for no more than this.
pub const PIECE_CHANGES: usize = 2 * 1024;
pub const PIECE_BYTES: usize = 1024 * 1024;

/// Changes of one commit, and how far they are packed into rows.
pub struct Packed {
    changes: DeferredChanges,
    /// How many are packed, and into how many rows.
    packed: usize,
    rows: u32,
    /// What is still to be packed.
    bytes: usize,
    /// What the rows are stored under, where that is done ahead of the commit.
    number: Option<u64>,
}

/// Changes of one commit that snapshots show on top of the trees.
pub struct Deferred {
    number: u64,
    changes: DeferredChanges,
    /// How many rows they are stored in.
    rows: u32,
}

/// What has still to be added to the trees.
pub struct Backlog {
    trees: Arc<dyn Trees>,
    shown: ArcSwap<Vec<Arc<Deferred>>>,
    last: AtomicU64,
}

impl Packed {
    /// Takes the changes out of a commit if they are too many for one batch, all but rows of
    /// the catalog. They are in order, tree by tree. What the commit has reserved for them goes
    /// with them: snapshots may outlive it.
    pub fn take(changes: &mut Vec<TreeChange>, memory: &mut Held) -> Option<Packed> {
        let is_deferrable = |change: &TreeChange| !keys::is_row(&change.key);
        if changes.iter().filter(|change| is_deferrable(change)).count() <= CHANGES_AT_ONCE_MAX {
            return None;
        }
        let (taken, left) = std::mem::take(changes).into_iter().partition(is_deferrable);
        *changes = left;
        let memory = std::mem::replace(memory, Held::new(Kind::Work));
        Some(Packed::new(DeferredChanges { all: taken, _memory: memory }))
    }

    fn new(changes: DeferredChanges) -> Packed {
        let bytes = changes.all.iter().map(TreeChange::size_bytes).sum();
        Packed { changes, packed: 0, rows: 0, bytes, number: None }
    }

    pub fn changes(&self) -> &DeferredChanges {
        &self.changes
    }

    /// What is still to be packed.
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// Packs the next rows, of about so many bytes, as they are stored under a number.
    fn take_rows(&mut self, number: u64, bytes: usize) -> Vec<TreeChange> {
        let (mut rows, mut taken) = (Vec::new(), 0);
        while taken < bytes
            && let Some((row, count)) = pack::row(&self.changes.all[self.packed..])
        {
            taken += row.len();
            let packed = &self.changes.all[self.packed..self.packed + count];
            self.bytes -= packed.iter().map(TreeChange::size_bytes).sum::<usize>();
            self.packed += count;
            let key = keys::packed(number, self.rows);
            rows.push(TreeChange { tree: Tree::Large, key, value: Some(row) });
            self.rows += 1;
        }
        rows
    }
}

impl Deferred {
    /// The batch that adds the changes from here on, and where the next begins; the last one
    /// removes the rows.
    pub fn piece(&self, from: usize) -> (Vec<TreeChange>, Option<usize>) {
        let rest = &self.changes.all[from..];
        let mut bytes = 0;
        let count = rest.iter().take(PIECE_CHANGES).take_while(|change| {
            let fits = bytes < PIECE_BYTES;
            bytes += change.size_bytes();
            fits
        });
        let count = count.count();
        let added = rest[..count].iter().cloned();
        if count < rest.len() {
            return (added.collect(), Some(from + count));
        }
        let mark =
            TreeChange { tree: Tree::Records, key: keys::deferred(self.number), value: None };
        (added.chain(removed(self.number, self.rows)).chain([mark]).collect(), None)
    }
}

/// The removal of packed rows.
fn removed(number: u64, rows: u32) -> impl Iterator<Item = TreeChange> {
    let keys = (0..rows).map(move |row| keys::packed(number, row));
    keys.map(|key| TreeChange { tree: Tree::Large, key, value: None })
}

impl Backlog {
    /// Adds to the trees what an earlier process has left to be added.
    pub fn open(trees: Arc<dyn Trees>) -> Result<Backlog> {
        let snapshot = trees.snapshot();
        // One by one: each may be large.
        for mark in snapshot.range(Tree::Records, keys::rows(keys::DEFERRED_ROWS)) {
            let deferred = read(&*snapshot, mark).map_err(failed)?;
            tracing::info!(changes = deferred.changes.len(), "adding changes of a commit");
            let mut next = Some(0);
            while let Some(from) = next {
                let (changes, rest) = deferred.piece(from);
                trees.apply(changes).map_err(failed)?;
                next = rest;
            }
        }
        discard_rows(&*trees)?;
        Ok(Backlog { trees, shown: ArcSwap::default(), last: AtomicU64::new(0) })
    }

    /// The number of the next deferred changes.
    fn next_number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The trees as of the last commit, whatever of it is still to be added.
    pub fn snapshot(&self) -> Arc<dyn TreeSnapshot> {
        loop {
            let shown = self.shown.load();
            let snapshot = self.trees.snapshot();
            // Changes are listed before their commit is applied and until their last piece
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

    /// Has snapshots show changes from the moment when the batch is applied, to which what
    /// stores them is added. One thread at a time.
    pub fn add(&self, mut packed: Packed, batch: &mut Vec<TreeChange>) -> Arc<Deferred> {
        let number = packed.number.unwrap_or_else(|| self.next_number());
        batch.extend(packed.take_rows(number, usize::MAX));
        let rows = packed.rows;
        let deferred = Arc::new(Deferred { number, changes: packed.changes, rows });
        batch.push(TreeChange {
            tree: Tree::Records,
            key: keys::deferred(number),
            value: Some(rows.to_be_bytes().into()),
        });
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

/// What an earlier process has left to be added for one mark.
fn read(
    snapshot: &dyn TreeSnapshot,
    mark: std::result::Result<(Slice, Slice), Failure>,
) -> std::result::Result<Deferred, Failure> {
    let (key, value) = mark?;
    let number = keys::deferred_number(&key).ok_or_else(pack::damaged)?;
    let rows = u32::from_be_bytes(*value.first_chunk().ok_or_else(pack::damaged)?);
    let mut changes = Vec::new();
    for row in 0..rows {
        let packed = snapshot.get(Tree::Large, &keys::packed(number, row))?;
        pack::read(&packed.ok_or_else(pack::damaged)?, &mut changes).ok_or_else(pack::damaged)?;
    }
    Ok(Deferred { number, changes: changes.into(), rows })
}

/// Removes rows that were stored ahead of a commit which never came.
fn discard_rows(trees: &dyn Trees) -> Result<()> {
    let rows = trees.snapshot().range(Tree::Large, keys::rows(keys::DEFERRED_ROWS));
    let removed = rows.map(|row| Ok(TreeChange { tree: Tree::Large, key: row?.0, value: None }));
    let removed: Vec<TreeChange> =
        removed.collect::<std::result::Result<_, _>>().map_err(failed)?;
    match removed.is_empty() {
        true => Ok(()),
        false => trees.apply(removed).map_err(failed),
    }
}
