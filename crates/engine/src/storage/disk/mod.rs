//! The trees on disk, in fjall.

mod active;
mod alarm;
mod closer;
mod fault;
mod inventory;
mod journal;
mod manifest;
mod recovery;
mod stamp;
#[cfg(test)]
mod tests;
mod watermark;

pub use fault::Fault;
pub use recovery::{Books, Recovery, Stop};

use super::keys;
use super::trees::{
    Failure, FileSystem, Pairs, Range, SyncLevel, Tree, TreeChange, TreeSnapshot, TreeWork, Trees,
};
use active::ActiveJournal;
use alarm::{Alarm, Lack};
use closer::Closer;
use fjall::config::{BlockSizePolicy, CompressionPolicy, PinningPolicy};
use fjall::{
    AbstractTree, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode,
    Readable, Slice,
};
use inventory::Inventory;
use parking_lot::Mutex;
use recovery::{KEYSPACES, Known, RecoveryPlan, TREES};
use stamp::BatchStamp;
use std::fs::File;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use watermark::{Reached, StoredMark, Watermark};

/// The budget may ask for smaller ones.
const MEMTABLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The journals may take what so many memtables do. Bounds what a start after a crash must
/// replay, and what waits in memory to be flushed. fjall takes no less than the least.
const JOURNALED_MEMTABLES: u64 = 4;
const JOURNAL_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// Files of tables that are kept open, within the descriptors that connections leave. fjall
/// takes no fewer than the least.
const OPEN_FILES_MIN: u64 = 10;
const OPEN_FILES_MAX: u64 = 400;
/// Where descriptors are few they are this share of them.
const OPEN_FILES_SHARE: u64 = 8;
/// What may stay in memory while nobody writes.
const TIDY_BYTES: u64 = 8 * 1024 * 1024;
/// Large values are kept apart from their keys, so that compaction does not
/// rewrite them.
const BLOB_BYTES_MIN: u32 = 16 * 1024;
/// Threads that flush and compact. The first of them leaves compactions to the others and,
/// while they all are busy, hands what is to be compacted around in a circle: with two,
/// one burns a core as long as the other compacts.
const WORKERS: usize = 4;
/// From so many sealed memtables or runs of the first level on the trees are behind. fjall
/// holds all writers up from 4 and 30 on.
const BEHIND_MEMTABLES: usize = 2;
const BEHIND_RUNS: usize = 12;
/// With less than this a file system is full, whatever it says.
const FULL_BYTES: u64 = 16 * 1024 * 1024;
/// Between two looks at whether a flush is done.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);

pub struct Disk {
    /// The store's directory, and that of the trees in it.
    directory: PathBuf,
    path: PathBuf,
    database: Database,
    /// Let go after it.
    _closer: Closer,
    trees: [Keyspace; 3],
    journal: ActiveJournal,
    watermark: Watermark,
    /// What a memtable may take before it is flushed.
    memtable_bytes: u64,
    /// The last batch that was applied, and the last that was synced.
    applied: Mutex<Reached>,
    synced: Mutex<Reached>,
    inventory: Mutex<Inventory>,
    /// Which start of the store this is.
    start: u64,
    /// What went to the journal, as it is before compression.
    journaled_bytes: AtomicU64,
    alarm: Arc<Alarm>,
    recovery: Recovery,
}

/// Whether a directory has trees in it, or what is written before they are made.
pub fn is_there(directory: &Path) -> bool {
    let names = [TREES, inventory::NAME].into_iter().chain(watermark::NAMES);
    names.into_iter().any(|name| directory.join(name).exists())
}

impl Disk {
    /// Opens the trees in a store's directory. Nobody else may have it open.
    pub fn open(directory: &Path, books: Books) -> Result<Disk, Fault> {
        let path = directory.join(TREES);
        let known = Known::read(directory, books)?;
        let RecoveryPlan { recovery, inventory, .. } = {
            let found = recovery::look(directory, &known)?;
            found.put_right()?;
            found
        };
        if recovery.stop == Stop::None {
            // Before the trees, which are not opened without them.
            let watermark = Watermark::open(directory, 0)?;
            watermark.write(Reached::default(), false)?;
            watermark.sync()?;
            Inventory::default().write(directory)?;
        }
        let shares = budget::process().shares();
        let database = Database::builder(&path)
            .manual_journal_persist(true)
            .cache_size(shares.cache_bytes)
            .max_journaling_size(
                (JOURNALED_MEMTABLES * shares.memtable_bytes).max(JOURNAL_BYTES_MIN),
            )
            .max_cached_files(Some(open_files_max()))
            .worker_threads(WORKERS)
            .open()?;
        let open = |tree: Tree| database.keyspace(tree.name(), || options(tree));
        let trees = [open(Tree::Records)?, open(Tree::Entries)?, open(Tree::Large)?];
        let reached = reached(&trees)?;
        if reached.number < recovery.promised {
            return Err(Fault::Damage(format!(
                "its last batch is {}, though {} had been written",
                reached.number, recovery.promised
            )));
        }
        if known.marks.contains(&StoredMark::Unreadable) {
            tracing::warn!("a file SYNCED was not readable and is written again");
        }
        let start = known.start() + 1;
        let watermark = Watermark::open(directory, start)?;
        watermark.write(reached, false)?;
        watermark.sync()?;
        let disk = Disk {
            directory: directory.to_owned(),
            journal: ActiveJournal::open(&path)?,
            path,
            _closer: Closer::start(database.clone())?,
            database,
            trees,
            watermark,
            applied: Mutex::new(reached),
            synced: Mutex::new(reached),
            inventory: Mutex::new(inventory),
            start,
            memtable_bytes: shares.memtable_bytes,
            journaled_bytes: AtomicU64::new(0),
            alarm: Arc::default(),
            recovery,
        };
        disk.take_inventory()?;
        Ok(disk)
    }

    /// Notes what the store is made of now, and how far it has been synced.
    fn take_inventory(&self) -> Result<(), Fault> {
        let mut inventory = self.inventory.lock();
        let mut now = Inventory::take(&self.path.join(KEYSPACES), Some(&*inventory), false)?;
        now.names = Some(Tree::ALL.map(|tree| self.keyspace(tree).id()));
        now.synced = *self.synced.lock();
        now.start = self.start;
        now.write(&self.directory)?;
        *inventory = now;
        Ok(())
    }

    /// How the store was left, and what opening it took.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    fn keyspace(&self, tree: Tree) -> &Keyspace {
        &self.trees[tree as usize]
    }

    fn failure(&self, error: fjall::Error) -> Failure {
        self.alarm.writing(error, || self.lacking())
    }

    fn lacking(&self) -> Option<Lack> {
        if self.file_system().is_some_and(|file_system| file_system.free_bytes < FULL_BYTES) {
            return Some(Lack::Room);
        }
        File::open(&self.path).err().and_then(|error| Lack::of(&error))
    }

    fn mark(&self, reached: Reached, clean: bool) -> Result<(), Failure> {
        self.watermark.write(reached, clean).map_err(|error| self.failure(error.into()))
    }

    fn note_synced(&self, reached: Reached) {
        let mut synced = self.synced.lock();
        if reached.number > synced.number {
            *synced = reached;
        }
    }

    /// Writes out what is in memory. Whatever is not done in time stays in the journal.
    fn write_out(&self, until: Option<Instant>) -> Result<(), Failure> {
        for tree in &self.trees {
            tree.rotate_memtable().map_err(|error| self.failure(error))?;
        }
        // fjall would wait for ever for a flush that has failed.
        while self.trees.iter().any(|tree| tree.tree.sealed_memtable_count() > 0)
            && until.is_none_or(|until| Instant::now() < until)
        {
            self.health()?;
            std::thread::sleep(FLUSH_INTERVAL);
        }
        Ok(())
    }

    /// Has memtables flushed that are larger than this.
    fn rotate_larger_than(&self, bytes: u64) -> Result<(), Failure> {
        for tree in &self.trees {
            if tree.tree.active_memtable().size() > bytes {
                tree.rotate_memtable().map_err(|error| self.failure(error))?;
            }
        }
        Ok(())
    }

    fn persist(&self, mode: PersistMode) -> Result<(), Failure> {
        self.database.persist(mode).map_err(|error| self.failure(error))
    }
}

/// How far the batches have come that the trees hold. A tree that no batch has left its row
/// in was last written to by an earlier format.
fn reached(trees: &[Keyspace; 3]) -> Result<Reached, fjall::Error> {
    let mut reached = Reached::default();
    for (tree, touched) in trees.iter().zip(&mut reached.touched) {
        if tree.get(keys::stamp())?.is_some_and(|row| BatchStamp::is_of_this_format(&row)) {
            *touched = tree.tree.get_highest_seqno().unwrap_or(0);
        }
    }
    let stamp = trees[Tree::Records as usize].get(keys::stamp())?;
    reached.number =
        stamp.and_then(|bytes| BatchStamp::read(&bytes)).map_or(0, |stamp| stamp.number);
    Ok(reached)
}

fn open_files_max() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = limit.map_or(OPEN_FILES_MAX, |limit| limit / OPEN_FILES_SHARE);
    share.clamp(OPEN_FILES_MIN, OPEN_FILES_MAX) as usize
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
    fn apply(&self, changes: Vec<TreeChange>) -> Result<(), Failure> {
        let before = *self.applied.lock();
        let (number, floor) = (before.number + 1, self.database.seqno());
        let synced = self.synced.lock().number;
        let stamp = BatchStamp { number, synced, floor, previous: before.touched };
        let mut reached = Reached { number, ..before };
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), changes.len() + 3);
        let mut bytes = journal::BATCH_BYTES;
        for TreeChange { tree, key, value } in changes {
            bytes += item_bytes(&key, value.as_deref());
            reached.touched[tree as usize] = floor;
            match value {
                Some(value) => batch.insert(self.keyspace(tree), key, value),
                None => batch.remove(self.keyspace(tree), key),
            }
        }
        reached.touched[Tree::Records as usize] = floor;
        let key = keys::stamp();
        for tree in Tree::ALL.into_iter().filter(|tree| reached.touched[*tree as usize] == floor) {
            let value = match tree {
                Tree::Records => Slice::from(stamp.write()),
                Tree::Entries | Tree::Large => Slice::empty(),
            };
            bytes += item_bytes(&key, Some(&value));
            batch.insert(self.keyspace(tree), key.clone(), value);
        }
        batch.commit().map_err(|error| self.failure(error))?;
        self.journaled_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        *self.applied.lock() = reached;
        // A store keeps the size that it was made with, so a smaller one is seen to here.
        if self.memtable_bytes < MEMTABLE_BYTES_MAX {
            self.rotate_larger_than(self.memtable_bytes)?;
        }
        Ok(())
    }

    fn sync(&self, reach: SyncLevel) -> Result<(), Failure> {
        let applied = *self.applied.lock();
        match reach {
            SyncLevel::System => self.persist(PersistMode::Buffer),
            SyncLevel::Disk => {
                self.persist(PersistMode::Buffer)?;
                match self.journal.sync() {
                    Some(synced) => synced.map_err(|error| self.failure(error.into()))?,
                    None => self.persist(PersistMode::SyncData)?,
                }
                self.note_synced(applied);
                self.mark(applied, false)
            }
        }
    }

    fn snapshot(&self) -> Arc<dyn TreeSnapshot> {
        Arc::new(DiskSnapshot {
            snapshot: self.database.snapshot(),
            trees: self.trees.clone(),
            alarm: self.alarm.clone(),
        })
    }

    fn tidy(&self) -> Result<(), Failure> {
        self.rotate_larger_than(TIDY_BYTES)
    }

    fn flush(&self, until: Option<Instant>) -> Result<(), Failure> {
        self.write_out(until)?;
        let applied = *self.applied.lock();
        self.persist(PersistMode::SyncAll)?;
        self.note_synced(applied);
        // Without it the next start reads more.
        if let Err(error) = self.take_inventory() {
            tracing::warn!(%error, "could not note what the store is made of");
        }
        self.mark(applied, true)?;
        Ok(self.watermark.sync()?)
    }

    fn note_files(&self) {
        let is_current = self.inventory.lock().is_current(&self.path.join(KEYSPACES));
        // What changes in the middle of it is noted the next time.
        if !is_current && let Err(error) = self.take_inventory() {
            tracing::debug!(%error, "could not note what the store is made of");
        }
    }

    fn discard(&self, tree: Tree, range: &Range) -> Result<bool, Failure> {
        let tree = &self.keyspace(tree).tree;
        let within = |key: &Slice| range.contains(key);
        let is_dead = tree.current_version().iter_tables().any(|table| {
            let keys = &table.metadata.key_range;
            within(keys.min()) && within(keys.max())
        });
        if is_dead {
            tree.drop_range(range.clone()).map_err(|error| self.failure(error.into()))?;
        }
        Ok(is_dead)
    }

    fn reclaim(&self, bytes_max: u64, live_bytes: u64) -> Result<(), Failure> {
        self.write_out(None)?;
        let fits = |tree: Tree| {
            let disk_bytes = self.keyspace(tree).disk_space();
            let rewritten = match tree {
                Tree::Entries => disk_bytes,
                // Most of a tree may have been removed: only what is left is written.
                Tree::Records | Tree::Large => disk_bytes.min(live_bytes),
            };
            rewritten <= bytes_max
        };
        for tree in Tree::ALL.into_iter().filter(|tree| fits(*tree)) {
            let tree = self.keyspace(tree);
            // The first finds out which values nobody refers to, and the second leaves out
            // their files.
            for _ in 0..2 {
                tree.major_compact().map_err(|error| self.failure(error))?;
            }
        }
        Ok(())
    }

    fn release(&self) -> Result<(), Failure> {
        // That is when it looks for files that nobody needs, in all trees.
        self.write_out(None)
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

    fn is_behind(&self) -> bool {
        self.trees.iter().map(|keyspace| &keyspace.tree).any(|tree| {
            tree.sealed_memtable_count() >= BEHIND_MEMTABLES || tree.l0_run_count() >= BEHIND_RUNS
        })
    }

    fn background(&self) -> TreeWork {
        TreeWork {
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

impl TreeSnapshot for DiskSnapshot {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        let value = self.snapshot.get(&self.trees[tree as usize], key);
        value.map_err(|error| self.alarm.reading(error))
    }

    fn range(&self, tree: Tree, range: Range) -> Pairs {
        let pairs = self.snapshot.range(&self.trees[tree as usize], range);
        let alarm = self.alarm.clone();
        Box::new(pairs.map(move |pair| pair.into_inner().map_err(|error| alarm.reading(error))))
    }
}
