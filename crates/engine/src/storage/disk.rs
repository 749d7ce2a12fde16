//! The trees on disk, in fjall.

use super::trees::{Background, Change, Failure, FileSystem, Pairs, Reach, Snapshot, Tree, Trees};
use fjall::config::{BlockSizePolicy, CompressionPolicy, PinningPolicy};
use fjall::{
    Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode, Readable, Slice,
};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Blocks and blobs kept in memory, as they are used: a share of the machine's memory.
const CACHE_SHARE: u64 = 8;
const CACHE_BYTES_MIN: u64 = 256 * 1024 * 1024;
const CACHE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Bounds what a start after a crash must replay.
const JOURNAL_BYTES_MAX: u64 = 256 * 1024 * 1024;
const MEMTABLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Large values are kept apart from their keys, so that compaction does not
/// rewrite them.
const BLOB_BYTES_MIN: u32 = 16 * 1024;

pub struct Disk {
    path: PathBuf,
    database: Database,
    trees: [Keyspace; 3],
}

impl Disk {
    pub fn open(path: &Path) -> Result<Disk, fjall::Error> {
        let database = Database::builder(path)
            .manual_journal_persist(true)
            .cache_size(cache_bytes())
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .open()?;
        let open = |tree: Tree| database.keyspace(tree.name(), || options(tree));
        let trees = [open(Tree::Records)?, open(Tree::Entries)?, open(Tree::Large)?];
        Ok(Disk { path: path.to_owned(), database, trees })
    }

    fn keyspace(&self, tree: Tree) -> &Keyspace {
        &self.trees[tree as usize]
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

/// Keeps what every point read looks at in memory, a few megabytes for a gigabyte, down
/// to the level where it is partitioned and cached by use.
fn upper_levels() -> PinningPolicy {
    PinningPolicy::new([true, true, true, false])
}

impl Trees for Disk {
    fn apply(&self, changes: Vec<Change>) -> Result<(), Failure> {
        let mut batch = fjall::OwnedWriteBatch::with_capacity(self.database.clone(), changes.len());
        for Change { tree, key, value } in changes {
            match value {
                Some(value) => batch.insert(self.keyspace(tree), key, value),
                None => batch.remove(self.keyspace(tree), key),
            }
        }
        Ok(batch.commit()?)
    }

    fn sync(&self, reach: Reach) -> Result<(), Failure> {
        let mode = match reach {
            Reach::System => PersistMode::Buffer,
            Reach::Disk => PersistMode::SyncData,
        };
        Ok(self.database.persist(mode)?)
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(DiskSnapshot { snapshot: self.database.snapshot(), trees: self.trees.clone() })
    }

    fn flush(&self) -> Result<(), Failure> {
        for tree in &self.trees {
            tree.rotate_memtable_and_wait()?;
        }
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn disk_bytes(&self) -> u64 {
        self.database.disk_space().unwrap_or(0)
    }

    fn file_system(&self) -> Option<FileSystem> {
        let figures = rustix::fs::statvfs(&self.path).ok()?;
        let total_bytes = figures.f_blocks * figures.f_frsize;
        let free_bytes = figures.f_bfree * figures.f_frsize;
        Some(FileSystem { used_bytes: total_bytes.saturating_sub(free_bytes), total_bytes })
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
}

impl Snapshot for DiskSnapshot {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        Ok(self.snapshot.get(&self.trees[tree as usize], key)?)
    }

    fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        let pairs = self.snapshot.range(&self.trees[tree as usize], range);
        Box::new(pairs.map(|pair| pair.into_inner().map_err(Failure::from)))
    }
}
