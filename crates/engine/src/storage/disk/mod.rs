//! The trees on disk, in fjall.

mod active;
mod alarm;
mod fault;
mod journal;
mod manifest;
mod recovery;
mod stamp;
#[cfg(test)]
mod tests;
mod watermark;

pub use fault::Fault;
pub use recovery::{Recovery, Stop};

use super::keys;
use super::trees::{Background, Change, Failure, FileSystem, Pairs, Reach, Snapshot, Tree, Trees};
use active::ActiveJournal;
use alarm::Alarm;
use fjall::config::{BlockSizePolicy, CompressionPolicy, PinningPolicy};
use fjall::{
    AbstractTree, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode,
    Readable, Slice,
};
use stamp::Stamp;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use watermark::{Mark, Watermark};

/// Blocks and blobs kept in memory, as they are used: a share of the machine's memory.
const CACHE_SHARE: u64 = 8;
const CACHE_BYTES_MIN: u64 = 256 * 1024 * 1024;
const CACHE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Bounds what a start after a crash must replay.
const JOURNAL_BYTES_MAX: u64 = 256 * 1024 * 1024;
const MEMTABLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What may stay in memory while nobody writes.
const TIDY_BYTES: u64 = 8 * 1024 * 1024;
/// Large values are kept apart from their keys, so that compaction does not
/// rewrite them.
const BLOB_BYTES_MIN: u32 = 16 * 1024;
/// Threads that flush and compact. The first of them leaves compactions to the others and,
/// while they all are busy, hands what is to be compacted around in a circle: with two,
/// one burns a core as long as the other compacts.
const WORKERS: usize = 4;
/// With less than this a file system is full, whatever it says.
const FULL_BYTES: u64 = 16 * 1024 * 1024;
/// Between two looks at whether a flush is done.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);
const TREES: &str = "trees";

pub struct Disk {
    path: PathBuf,
    database: Database,
    trees: [Keyspace; 3],
    journal: ActiveJournal,
    watermark: Watermark,
    /// The last batch that was applied, and the last that was synced.
    applied: AtomicU64,
    synced: AtomicU64,
    /// What went to the journal, as it is before compression.
    journaled_bytes: AtomicU64,
    alarm: Arc<Alarm>,
    recovery: Recovery,
}

impl Disk {
    /// Opens the trees in a store's directory. Nobody else may have it open.
    pub fn open(directory: &Path) -> Result<Disk, Fault> {
        let path = directory.join(TREES);
        let (watermark, mark) = Watermark::open(directory)?;
        let recovery = recovery::recover(&path, mark)?;
        let database = Database::builder(&path)
            .manual_journal_persist(true)
            .cache_size(cache_bytes())
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(WORKERS)
            .open()?;
        let open = |tree: Tree| database.keyspace(tree.name(), || options(tree));
        let trees = [open(Tree::Records)?, open(Tree::Entries)?, open(Tree::Large)?];
        let stamp = trees[Tree::Records as usize].get(keys::stamp())?;
        let number = stamp.and_then(|bytes| Stamp::read(&bytes)).map_or(0, |stamp| stamp.number);
        if number < recovery.promised {
            return Err(Fault::Damage(format!(
                "its last batch is {number}, though {} had been written",
                recovery.promised
            )));
        }
        if mark == Mark::Unreadable {
            tracing::warn!("the file SYNCED was not readable and is written anew");
        }
        watermark.write(number, false)?;
        watermark.sync()?;
        Ok(Disk {
            journal: ActiveJournal::open(&path)?,
            path,
            database,
            trees,
            watermark,
            applied: AtomicU64::new(number),
            synced: AtomicU64::new(number),
            journaled_bytes: AtomicU64::new(0),
            alarm: Arc::default(),
            recovery,
        })
    }

    /// How the store was left, and what opening it took.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    fn keyspace(&self, tree: Tree) -> &Keyspace {
        &self.trees[tree as usize]
    }

    fn failure(&self, error: fjall::Error) -> Failure {
        self.alarm.writing(error, || {
            self.file_system().is_some_and(|file_system| file_system.free_bytes < FULL_BYTES)
        })
    }

    fn mark(&self, number: u64, clean: bool) -> Result<(), Failure> {
        self.watermark.write(number, clean).map_err(|error| self.failure(error.into()))
    }

    fn persist(&self, mode: PersistMode) -> Result<(), Failure> {
        self.database.persist(mode).map_err(|error| self.failure(error))
    }
}

fn cache_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    let memory_bytes = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    (memory_bytes / CACHE_SHARE).clamp(CACHE_BYTES_MIN, CACHE_BYTES_MAX)
}

fn options(tree: Tree) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default()
        .manual_journal_persist(true)
        .max_memtable_size(MEMTABLE_BYTES_MAX)
        .index_block_pinning_policy(upper_levels())
        .filter_block_pinning_policy(upper_levels());
    match tree {
        // A record is asked for by an id that an index or a scan gave, so it is there:
        // filters of the last level would answer nothing.
        Tree::Records => options
            .expect_point_read_hits(true)
            .data_block_size_policy(BlockSizePolicy::all(4 * 1024))
            .data_block_compression_policy(CompressionPolicy::new([
                fjall::CompressionType::None,
                fjall::CompressionType::None,
                fjall::CompressionType::Lz4,
            ])),
        Tree::Entries => options.data_block_size_policy(BlockSizePolicy::all(4 * 1024)),
        Tree::Large => options.with_kv_separation(Some(
            KvSeparationOptions::default().separation_threshold(BLOB_BYTES_MIN),
        )),
    }
}

/// What a change takes in the journal.
fn item_bytes(key: &[u8], value: Option<&[u8]>) -> usize {
    journal::ITEM_BYTES + key.len() + value.map_or(0, <[u8]>::len)
}

/// Keeps what every point read looks at in memory, a few megabytes for a gigabyte, down
/// to the level where it is partitioned and cached by use.
fn upper_levels() -> PinningPolicy {
    PinningPolicy::new([true, true, true, false])
}

impl Trees for Disk {
    fn apply(&self, changes: Vec<Change>) -> Result<(), Failure> {
        let number = self.applied.load(Ordering::Acquire) + 1;
        let synced = self.synced.load(Ordering::Acquire);
        let stamp = Stamp { number, synced, floor: self.database.seqno() };
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), changes.len() + 1);
        let mut bytes = journal::BATCH_BYTES;
        for Change { tree, key, value } in changes {
            bytes += item_bytes(&key, value.as_deref());
            match value {
                Some(value) => batch.insert(self.keyspace(tree), key, value),
                None => batch.remove(self.keyspace(tree), key),
            }
        }
        let (key, value) = (keys::stamp(), stamp.write());
        bytes += item_bytes(&key, Some(&value));
        batch.insert(self.keyspace(Tree::Records), key, value);
        batch.commit().map_err(|error| self.failure(error))?;
        self.journaled_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.applied.store(number, Ordering::Release);
        Ok(())
    }

    fn sync(&self, reach: Reach) -> Result<(), Failure> {
        let applied = self.applied.load(Ordering::Acquire);
        match reach {
            Reach::System => self.persist(PersistMode::Buffer),
            Reach::Disk => {
                self.persist(PersistMode::Buffer)?;
                match self.journal.sync() {
                    Some(synced) => synced.map_err(|error| self.failure(error.into()))?,
                    None => self.persist(PersistMode::SyncData)?,
                }
                self.synced.fetch_max(applied, Ordering::AcqRel);
                self.mark(applied, false)
            }
        }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(DiskSnapshot {
            snapshot: self.database.snapshot(),
            trees: self.trees.clone(),
            alarm: self.alarm.clone(),
        })
    }

    fn tidy(&self) -> Result<(), Failure> {
        for tree in &self.trees {
            if tree.tree.active_memtable().size() > TIDY_BYTES {
                tree.rotate_memtable().map_err(|error| self.failure(error))?;
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), Failure> {
        for tree in &self.trees {
            tree.rotate_memtable().map_err(|error| self.failure(error))?;
        }
        // fjall would wait for ever for a flush that has failed.
        while self.trees.iter().any(|tree| tree.tree.sealed_memtable_count() > 0) {
            self.health()?;
            std::thread::sleep(FLUSH_INTERVAL);
        }
        self.persist(PersistMode::SyncAll)?;
        self.mark(self.applied.load(Ordering::Acquire), true)?;
        Ok(self.watermark.sync()?)
    }

    fn health(&self) -> Result<(), Failure> {
        self.persist(PersistMode::Buffer)
    }

    fn journaled_bytes(&self) -> u64 {
        self.journaled_bytes.load(Ordering::Relaxed)
    }

    fn disk_bytes(&self) -> u64 {
        self.database.disk_space().unwrap_or(0)
    }

    fn file_system(&self) -> Option<FileSystem> {
        let figures = rustix::fs::statvfs(&self.path).ok()?;
        let total_bytes = figures.f_blocks * figures.f_frsize;
        let unused_bytes = figures.f_bfree * figures.f_frsize;
        Some(FileSystem {
            used_bytes: total_bytes.saturating_sub(unused_bytes),
            total_bytes,
            free_bytes: figures.f_bavail * figures.f_frsize,
        })
    }

    fn background(&self) -> Background {
        Background {
            flushes: self.database.outstanding_flushes(),
            compactions: self.database.active_compactions(),
        }
    }
}

struct DiskSnapshot {
    snapshot: fjall::Snapshot,
    trees: [Keyspace; 3],
    alarm: Arc<Alarm>,
}

impl Snapshot for DiskSnapshot {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        let value = self.snapshot.get(&self.trees[tree as usize], key);
        value.map_err(|error| self.alarm.reading(error))
    }

    fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        let pairs = self.snapshot.range(&self.trees[tree as usize], range);
        let alarm = self.alarm.clone();
        Box::new(pairs.map(move |pair| pair.into_inner().map_err(|error| alarm.reading(error))))
    }
}
