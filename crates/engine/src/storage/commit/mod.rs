//! Group commit: what everyone has queued is applied together, and one sync
//! serves all who asked for one.
//!
//! A commit passes three marks: *applied* (later views see it, its intents are
//! gone), *written* (with the operating system) and *synced* (on the disk).
//! Small commits are applied by whoever submits them, the others by a thread; another
//! syncs, so that nobody else waits for the disk.
//!
//! A commit whose index entries are deferred is *settled* later: once they all are in their
//! tree, and its intents are gone. Others are when they are applied.

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
use super::deferred::{ENTRIES_AT_ONCE_MAX, Packed};
use super::trees::Change;
use std::any::Any;
use std::sync::atomic::AtomicU64;

/// A set of changes that become visible and survive together.
pub struct Commit {
    pub changes: Vec<Change>,
    /// How many documents it writes.
    pub writes: u64,
    /// What it has for the books.
    pub entry: Option<BookEntry>,
    /// Index entries that are to follow in pieces.
    pub deferred: Option<Packed>,
    /// Dropped once the commit is settled: intents, catalog guards.
    pub held: Box<dyn Any + Send>,
    /// Run just before the changes become visible, in commit order.
    pub publish: Option<Box<dyn FnOnce() + Send>>,
    /// What change streams are told of it.
    pub log: LogChange,
}

impl Commit {
    /// Changes alone.
    pub fn of(changes: Vec<Change>) -> Commit {
        Commit {
            changes,
            writes: 0,
            entry: None,
            deferred: None,
            held: Box::new(()),
            publish: None,
            log: LogChange::None,
        }
    }

    /// The same, its index entries deferred if they are many. What it holds must keep others
    /// from writing to their keys and from dropping their indexes; its changes are in order.
    pub fn deferring(mut self) -> Commit {
        if self.changes.len() > ENTRIES_AT_ONCE_MAX {
            self.deferred = turn::aside(|| Packed::take(&mut self.changes));
        }
        self
    }

    pub fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    fn changes(&self) -> usize {
        let deferred = self.deferred.as_ref().map_or(0, Packed::entries);
        self.changes.len() + deferred + self.log.changes()
    }

    fn size_bytes(&self) -> usize {
        let values = self.changes.iter().filter_map(|change| change.value.as_ref());
        let deferred = self.deferred.as_ref().map_or(0, Packed::size_bytes);
        values.map(|value| value.len()).sum::<usize>() + deferred + self.log.size_bytes()
    }
}

/// Called before each sync, while nothing is applied: takes note of what there is, and
/// gives what is to be called once that is synced, before those who waited are answered.
pub type Witness = Box<dyn Fn() -> Show + Send + Sync>;
pub type Show = Box<dyn FnOnce()>;

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
    /// Its index entries are in their tree, and its intents gone.
    Settled,
    Written,
    Synced,
}

/// How far the commits have come, and whether there is someone to see to the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub submitted: u64,
    pub synced: u64,
    pub alive: bool,
}

/// Figures for `serverStatus`.
#[derive(Debug, Default)]
pub struct Figures {
    pub commits: AtomicU64,
    pub writes: AtomicU64,
    pub groups: AtomicU64,
    pub syncs: AtomicU64,
}
