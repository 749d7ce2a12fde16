//! Group commit: what everyone has queued is applied together, and one sync
//! serves all who asked for one.
//!
//! A commit passes three marks: *applied* (later views see it, its intents are
//! gone), *written* (with the operating system) and *synced* (on the disk).
//! Small commits are applied by the thread that submits them (the fast path), the others by
//! the committer's; another thread syncs, so that nobody else waits for the disk.
//!
//! A commit whose changes are deferred is *settled* later: once they all are in their trees, and
//! its intents are gone. Others are when they are applied.

mod applier;
mod books;
mod committer;
mod settle;
mod shared;
mod state;
mod sync;

pub use applier::Applier;
pub use books::{AfterApply, BookEntry, Bookkeeper, Ledger, NoBooks};
pub use committer::Committer;

use super::LogChange;
use super::deferred::{self, CHANGES_AT_ONCE_MAX, Packed};
use super::trees::{Tree, TreeChange};
use budget::{Held, Kind};
use fjall::Slice;
use std::any::Any;
use std::sync::atomic::AtomicU64;

/// A set of changes that become visible and survive together.
pub struct Commit {
    pub changes: Vec<TreeChange>,
    /// How many documents it writes.
    pub writes: u64,
    /// What it has for the books.
    pub entry: Option<BookEntry>,
    /// Changes that are to follow in pieces.
    pub deferred: Option<Packed>,
    /// Dropped once the commit is settled: intents, catalog guards.
    pub held: Box<dyn Any + Send>,
    /// What the changes take of the memory budget.
    pub memory: Held,
    /// Run just before the changes become visible, in commit order.
    pub publish: Option<Box<dyn FnOnce() + Send>>,
    /// What change streams are told of it.
    pub log: LogChange,
}

impl Commit {
    /// Changes alone.
    pub fn of(changes: Vec<TreeChange>) -> Commit {
        Commit {
            changes,
            writes: 0,
            entry: None,
            deferred: None,
            held: Box::new(()),
            memory: Held::new(Kind::Work),
            publish: None,
            log: LogChange::None,
        }
    }

    /// The same, its changes deferred if they are many. What it holds must keep others from
    /// writing to their keys and from dropping their collections and indexes; its changes are in
    /// order.
    pub fn deferring(mut self) -> Commit {
        if self.changes.len() > CHANGES_AT_ONCE_MAX {
            self.deferred = turn::aside(|| Packed::take(&mut self.changes, &mut self.memory));
        }
        self
    }

    pub fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    fn changes(&self) -> usize {
        let deferred = self.deferred.as_ref().map_or(0, |packed| packed.changes().len());
        self.changes.len() + deferred + self.log.changes()
    }

    fn size_bytes(&self) -> usize {
        let values = self.changes.iter().filter_map(|change| change.value.as_ref());
        let deferred = self.deferred.as_ref().map_or(0, Packed::size_bytes);
        values.map(|value| value.len()).sum::<usize>() + deferred + self.log.size_bytes()
    }
}

/// What one commit writes, whose changes are in order.
#[derive(Default)]
pub struct CommitWrites<'a> {
    changes: &'a [TreeChange],
    deferred: Option<&'a Packed>,
}

impl<'a> CommitWrites<'a> {
    pub fn by(commit: &'a Commit) -> CommitWrites<'a> {
        CommitWrites { changes: &commit.changes, deferred: commit.deferred.as_ref() }
    }

    /// The new value of a key.
    pub fn get(&self, tree: Tree, key: &[u8]) -> Option<&'a Slice> {
        let deferred = || self.deferred.and_then(|packed| packed.changes().get(tree, key));
        deferred::find(self.changes, tree, key).or_else(deferred)?.as_ref()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.deferred.is_none()
    }
}

/// Called before each sync, while nothing is applied: takes note of what there is, and
/// gives what is to be called once that is synced, before those who waited are answered.
pub type Witness = Box<dyn Fn() -> AfterSync + Send + Sync>;
pub type AfterSync = Box<dyn FnOnce()>;

/// A commit's place in the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// Commits are numbered from 1 on.
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// The marks a commit passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Applied,
    /// All its changes are in their trees, and its intents gone.
    Settled,
    Written,
    Synced,
}

/// How far the commits have come, and whether there is someone to see to the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitProgress {
    pub submitted: u64,
    pub synced: u64,
    pub alive: bool,
}

/// Figures for `serverStatus`.
#[derive(Debug, Default)]
pub struct CommitFigures {
    pub commits: AtomicU64,
    pub writes: AtomicU64,
    pub groups: AtomicU64,
    pub syncs: AtomicU64,
}
