//! The few ordered trees everything lives in, and what the store asks of them.
//!
//! This is the seam between Freeboard and the storage engine below it: a disk
//! implementation (`disk`) and, in tests, one that forgets what was not synced.

use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;

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
#[derive(Debug, Clone)]
pub struct Change {
    pub tree: Tree,
    pub key: Slice,
    pub value: Option<Slice>,
}

/// How far a sync must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
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
pub struct Background {
    pub flushes: usize,
    pub compactions: usize,
}

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Pairs = Box<dyn Pair + Send>;

/// Key-value pairs in key order, from both ends.
pub trait Pair: DoubleEndedIterator<Item = Result<(Slice, Slice), Failure>> {}

impl<T: DoubleEndedIterator<Item = Result<(Slice, Slice), Failure>>> Pair for T {}

pub trait Trees: Send + Sync + 'static {
    /// All changes or none become visible to later snapshots, and, once synced,
    /// survive. Called by one thread at a time.
    fn apply(&self, changes: Vec<Change>) -> Result<(), Failure>;

    /// Makes everything survive that was applied before the call. More may be applied
    /// meanwhile, of which nothing is promised. After a failure the trees take
    /// no more writes.
    fn sync(&self, reach: Reach) -> Result<(), Failure>;

    fn snapshot(&self) -> Arc<dyn Snapshot>;

    /// Begins to write out what is held in memory, if that is much, so that reads need
    /// not search it first. Called while nobody writes.
    fn tidy(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Writes everything out so that the next start has nothing to replay.
    fn flush(&self) -> Result<(), Failure>;

    /// Whether work in the background has failed meanwhile.
    fn health(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn disk_bytes(&self) -> u64;

    /// What was written to the journal since the start, as it is before compression.
    fn journaled_bytes(&self) -> u64 {
        0
    }

    /// The file system that the trees are on, if they are on one.
    fn file_system(&self) -> Option<FileSystem> {
        None
    }

    fn background(&self) -> Background {
        Background::default()
    }
}

/// The trees as of one commit.
pub trait Snapshot: Send + Sync {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure>;

    fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs;
}
