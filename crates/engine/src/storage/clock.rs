//! The clock of commits: a logical clock of seconds and numbers within them.
//!
//! Every commit gets the next time, by the wall clock's second where that is ahead. A time is
//! shown to clients only once its commit has been synced, and the store holds the second that
//! the clock has reached, in the same batch: so the clock never goes back, whatever the wall
//! clock or a crash does, and no sync is made for it. A store that is opened goes on with the
//! second after the stored one, since numbers within a second are not stored.
//!
//! Times of commits differ by `STEP`, so that there is a time between two of them: it stands
//! for everything up to a commit and nothing behind it.

use super::trees::{Failure, SyncLevel, Tree, TreeChange, Trees};
use super::{failed, keys};
use bson::Timestamp;
use error::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

const STEP: u64 = 2;
/// The last commits whose times are known.
const COMMITS_KNOWN: usize = 1024;

/// The clock's state. Only the applier lets it tick.
#[derive(Debug)]
pub struct Clock {
    /// The time of the last commit.
    last: AtomicU64,
    /// The second that the store holds, or will hold with the batch at hand.
    stored: AtomicU64,
    /// The time of the last commit that has been synced. For replies, without a lock.
    synced: AtomicU64,
    /// The same, for those who wait.
    reached: watch::Sender<u64>,
    /// How many commits have got their times, and those of the last of them.
    commits: AtomicU64,
    times: Box<[AtomicU64]>,
}

impl Clock {
    /// The clock of a store that is being opened. `newest` is the newest time of its log:
    /// earlier versions had no row for the clock. A store without one gets it.
    pub fn open(trees: &dyn Trees, newest: u64) -> Result<Clock> {
        let row = trees.snapshot().get(Tree::Records, &keys::clock()).map_err(failed)?;
        let stored = row.as_deref().and_then(|row| row.first_chunk().copied());
        let stored = stored.map(u64::from_be_bytes);
        let last = after((newest >> 32).max(stored.unwrap_or_else(seconds)));
        let clock = Clock {
            last: AtomicU64::new(last),
            stored: AtomicU64::new(stored.unwrap_or(0)),
            synced: AtomicU64::new(last),
            reached: watch::Sender::new(last),
            commits: AtomicU64::new(0),
            times: (0..COMMITS_KNOWN).map(|_| AtomicU64::new(0)).collect(),
        };
        if stored.is_none() {
            clock.store(trees).map_err(failed)?;
        }
        Ok(clock)
    }

    fn store(&self, trees: &dyn Trees) -> std::result::Result<(), Failure> {
        trees.apply(self.row().into_iter().collect())?;
        trees.sync(SyncLevel::Disk)
    }

    /// The time of the last commit that was applied.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// The time of the last commit that has been synced.
    pub fn synced(&self) -> u64 {
        self.synced.load(Ordering::Acquire)
    }

    /// Says when more has been synced, with the time of the last commit.
    pub fn reached(&self) -> watch::Receiver<u64> {
        self.reached.subscribe()
    }

    /// The time of a commit, by its number, unless many came after it.
    pub(super) fn time_of(&self, commit: u64) -> Option<u64> {
        let time = self.times.get(commit as usize % COMMITS_KNOWN)?.load(Ordering::Acquire);
        // What was overwritten meanwhile is of a later commit.
        let commits = self.commits.load(Ordering::Acquire);
        (commit..commit + COMMITS_KNOWN as u64).contains(&commits).then_some(time)
    }

    /// Notes the time of the commit that is being applied.
    pub(super) fn note_commit(&self) {
        let commit = self.commits.load(Ordering::Acquire) + 1;
        self.commits.store(commit, Ordering::Release);
        if let Some(place) = self.times.get(commit as usize % COMMITS_KNOWN) {
            place.store(self.last(), Ordering::Release);
        }
    }

    /// A time that no client can have gone past: behind the last commit, or the present second.
    pub fn now(&self) -> u64 {
        between(self.last()).max(seconds() << 32 | 1)
    }

    /// Everything up to here has been synced, and can be seen.
    pub(super) fn note_sync(&self, last: u64) {
        self.synced.store(last, Ordering::Release);
        self.reached.send_if_modified(|synced| std::mem::replace(synced, last) != last);
    }

    /// The next time: the wall clock's second, or later than any before.
    pub(super) fn tick(&self) -> u64 {
        let next = self.last().saturating_add(STEP).max(seconds() << 32 | 1);
        self.last.store(next, Ordering::Release);
        next
    }

    /// The row of the clock, where the store does not hold the second of the last commit.
    pub(super) fn row(&self) -> Option<TreeChange> {
        let second = self.last() >> 32;
        let is_stored = self.stored.swap(second, Ordering::AcqRel) == second;
        let value = Some(second.to_be_bytes().into());
        (!is_stored).then(|| TreeChange { tree: Tree::Records, key: keys::clock(), value })
    }
}

/// A time after every time of a second.
fn after(second: u64) -> u64 {
    (second + 1).min(u64::from(u32::MAX)) << 32 | 1
}

/// The time behind a commit and before any later one.
pub fn between(time: u64) -> u64 {
    time.saturating_add(1)
}

/// A time is a second and a number within it.
pub fn timestamp(time: u64) -> Timestamp {
    Timestamp { time: (time >> 32) as u32, increment: time as u32 }
}

pub fn time(timestamp: Timestamp) -> u64 {
    u64::from(timestamp.time) << 32 | u64::from(timestamp.increment)
}

/// The wall clock, as far as a timestamp goes.
fn seconds() -> u64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    seconds.min(u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::{Commit, Mark, NoBooks, Store};
    use super::*;
    use std::path::Path;
    use std::sync::Arc;

    fn open(path: &Path) -> Store {
        Store::open(path, Arc::new(NoBooks)).expect("opens")
    }

    async fn commit(store: &Store, mark: Mark) -> u64 {
        store.commit(Commit::of(Vec::new()), mark).await.expect("commits");
        store.clock().last()
    }

    /// Times go on behind the stored one, even where the wall clock is far behind it.
    #[tokio::test]
    async fn a_wall_clock_that_went_back_is_not_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        let ahead = seconds() + 1_000;
        {
            let store = open(directory.path());
            let row = ahead.to_be_bytes().into();
            let change = TreeChange { tree: Tree::Records, key: keys::clock(), value: Some(row) };
            // As a server whose wall clock was ahead would have left it.
            store.clock().stored.store(seconds() + 1, Ordering::SeqCst);
            store.clock().last.store((seconds() + 1) << 32, Ordering::SeqCst);
            store.commit(Commit::of(vec![change]), Mark::Synced).await.expect("commits");
            store.close();
        }
        let store = open(directory.path());
        let first = store.clock().synced();
        assert_eq!(timestamp(first), Timestamp { time: ahead as u32 + 1, increment: 1 });
        let next = commit(&store, Mark::Synced).await;
        assert_eq!(next, first + STEP);
        assert_eq!(store.clock().synced(), next);
        store.close();
        drop(store);
        let store = open(directory.path());
        assert!(store.clock().synced() > next);
        store.close();
    }

    #[tokio::test]
    async fn a_time_is_shown_once_its_commit_is_synced() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = open(directory.path());
        let shown = store.clock().synced();
        let applied = commit(&store, Mark::Applied).await;
        assert!(applied > shown && store.clock().synced() <= applied);
        let synced = commit(&store, Mark::Synced).await;
        assert_eq!(store.clock().synced(), synced);
        assert_eq!(store.synced().time, synced);
        assert!(store.clock().now() > synced);
        store.close();
    }
}
