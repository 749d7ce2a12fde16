//! The few ordered trees everything lives in, and what the store asks of them.
//!
//! This is the seam between Freeboard and the storage engine below it: a disk
//! implementation (`disk`) and, in tests, one that forgets what was not synced.

use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

/// Keys of every collection share these trees, told apart by their prefix, so
/// that an idle collection costs nothing and dropping one is cheap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tree {
    /// The catalog's rows under prefix 0, then records by collection and record id.
    Records,
    /// Index entries by index and key.
    Entries,
    /// Large values by collection, record id and number.
    Large,
}

impl Tree {
    pub const ALL: [Tree; 3] = [Tree::Records, Tree::Entries, Tree::Large];

    pub fn name(self) -> &'static str {
        match self {
            Tree::Records => "records",
            Tree::Entries => "entries",
            Tree::Large => "large",
        }
    }
}

/// One key's new value, or its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    pub tree: Tree,
    pub key: Slice,
    pub value: Option<Slice>,
}

impl TreeChange {
    pub fn size_bytes(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, |value| value.len())
    }
}

/// How far a sync must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncLevel {
    /// With the operating system: survives the process.
    System,
    /// On the disk: survives a power loss.
    Disk,
}

/// How full a file system is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSystem {
    pub used_bytes: u64,
    pub total_bytes: u64,
    /// What may still be written to it.
    pub free_bytes: u64,
}

/// What was read is not what was written.
#[derive(Debug)]
pub struct Damage(pub String);

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damage {}

/// There was no room for what was to be written.
#[derive(Debug)]
pub struct Full;

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the disk is full")
    }
}

impl std::error::Error for Full {}

/// What the trees still do for writes that are long done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeWork {
    pub flushes: usize,
    pub compactions: usize,
}

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Pairs = Box<dyn Pair + Send>;
pub type Range = (Bound<Slice>, Bound<Slice>);

/// Key-value pairs in key order, from both ends.
pub trait Pair: DoubleEndedIterator<Item = Result<(Slice, Slice), Failure>> {}

impl<T: DoubleEndedIterator<Item = Result<(Slice, Slice), Failure>>> Pair for T {}

pub trait Trees: Send + Sync + 'static {
    /// All changes or none become visible to later snapshots, and, once synced,
    /// survive. Called by one thread at a time.
    fn apply(&self, changes: Vec<TreeChange>) -> Result<(), Failure>;

    /// Makes everything survive that was applied before the call. More may be applied
    /// meanwhile, of which nothing is promised. After a failure the trees take
    /// no more writes.
    fn sync(&self, reach: SyncLevel) -> Result<(), Failure>;

    fn snapshot(&self) -> Arc<dyn TreeSnapshot>;

    /// Begins to write out what is held in memory, if that is much, so that reads need
    /// not search it first. Called while nobody writes.
    fn tidy(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Writes everything out so that the next start has nothing to replay, as far as it
    /// comes until then. Whatever is left has been synced, and the next start replays it.
    fn flush(&self, until: Option<Instant>) -> Result<(), Failure>;

    /// Gives back at once what lies in a range, where that is all that a file holds; true
    /// if there was such a file. Nobody may look into the range any more, and what is left
    /// in it is to be removed key by key.
    fn discard(&self, _tree: Tree, _range: &Range) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Writes out what is held in memory, and rewrites trees without what was removed from
    /// them where that takes no more than so many bytes; all documents have `live_bytes`. It
    /// may take long.
    fn reclaim(&self, _bytes_max: u64, _live_bytes: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Has files go that are no longer part of the trees and that no snapshot needs.
    fn release(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether work in the background has failed meanwhile.
    fn health(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Notes what the trees are made of, so that the next start can tell whether it is all
    /// there. Called now and then.
    fn note_files(&self) {}

    fn disk_bytes(&self) -> u64;

    /// What was written to the journal since the start, as it is before compression.
    fn journaled_bytes(&self) -> u64 {
        0
    }

    /// The file system that the trees are on, if they are on one.
    fn file_system(&self) -> Option<FileSystem> {
        None
    }

    /// Whether so much waits to be written out or compacted that more would soon hold writers
    /// up.
    fn is_behind(&self) -> bool {
        false
    }

    fn background(&self) -> TreeWork {
        TreeWork::default()
    }
}

/// The trees as of one commit.
pub trait TreeSnapshot: Send + Sync {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure>;

    fn range(&self, tree: Tree, range: Range) -> Pairs;
}
