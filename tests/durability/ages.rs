//! Trees that note how old the oldest view is that is still in use.

use crate::forgetful::Forgetful;
use engine::storage::trees::{
    Failure, Pairs, Range, SyncLevel, Tree, TreeChange, TreeSnapshot, Trees,
};
use fjall::Slice;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub struct Ages {
    trees: Arc<Forgetful>,
    views: Mutex<Vec<Weak<Aged>>>,
    applied: AtomicU64,
    /// The greatest number of commits that a view has seen come, while it was in use.
    pub oldest: AtomicU64,
    /// Entries of indexes that have been written.
    pub entries: AtomicU64,
    /// The greatest number of changes in one batch.
    pub largest: AtomicU64,
    pause: Mutex<Duration>,
}

struct Aged {
    born: u64,
    snapshot: Arc<dyn TreeSnapshot>,
}

impl Ages {
    pub fn new() -> Arc<Ages> {
        Arc::new(Ages {
            trees: Forgetful::new(1),
            views: Mutex::default(),
            applied: AtomicU64::new(0),
            oldest: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            largest: AtomicU64::new(0),
            pause: Mutex::default(),
        })
    }

    /// Counts from now on, and takes so long for every commit.
    pub fn begin(&self, pause: Duration) {
        self.oldest.store(0, Ordering::SeqCst);
        self.entries.store(0, Ordering::SeqCst);
        self.largest.store(0, Ordering::SeqCst);
        *self.pause.lock() = pause;
    }
}

impl Trees for Ages {
    fn apply(&self, changes: Vec<TreeChange>) -> Result<(), Failure> {
        std::thread::sleep(*self.pause.lock());
        self.largest.fetch_max(changes.len() as u64, Ordering::SeqCst);
        let entries = changes.iter().filter(|change| change.tree == Tree::Entries).count();
        self.trees.apply(changes)?;
        self.entries.fetch_add(entries as u64, Ordering::SeqCst);
        let applied = self.applied.fetch_add(1, Ordering::SeqCst) + 1;
        let mut views = self.views.lock();
        views.retain(|view| match view.upgrade() {
            Some(view) => {
                self.oldest.fetch_max(applied - view.born, Ordering::SeqCst);
                true
            }
            None => false,
        });
        Ok(())
    }

    fn sync(&self, reach: SyncLevel) -> Result<(), Failure> {
        self.trees.sync(reach)
    }

    fn snapshot(&self) -> Arc<dyn TreeSnapshot> {
        let born = self.applied.load(Ordering::SeqCst);
        let view = Arc::new(Aged { born, snapshot: self.trees.snapshot() });
        self.views.lock().push(Arc::downgrade(&view));
        view
    }

    fn flush(&self, until: Option<Instant>) -> Result<(), Failure> {
        self.trees.flush(until)
    }

    fn disk_bytes(&self) -> u64 {
        0
    }
}

impl TreeSnapshot for Aged {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        self.snapshot.get(tree, key)
    }

    fn range(&self, tree: Tree, range: Range) -> Pairs {
        self.snapshot.range(tree, range)
    }
}
