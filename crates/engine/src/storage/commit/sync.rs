//! The thread that syncs. Commits are applied meanwhile: what a sync promises is what
//! had been applied when it began.

use super::Mark;
use super::shared::{Shared, lost};
use crate::storage::trees::SyncLevel;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a relaxed write may stay unsynced.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);
/// After so long without a write there is time to put things in order.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);

/// What the thread does next.
enum Turn {
    Sync,
    Tidy,
    /// There will never be anything to sync.
    End,
}

impl Shared {
    pub fn sync_in_turn(&self) {
        let mut last_sync = Instant::now();
        let mut tidy = false;
        loop {
            match self.wait_for_turn(last_sync, tidy) {
                Turn::Sync => {
                    self.sync_applied();
                    last_sync = Instant::now();
                    tidy = false;
                }
                Turn::Tidy => {
                    if let Err(error) = self.trees.tidy() {
                        self.fail(lost(&error));
                    }
                    tidy = true;
                }
                Turn::End => break,
            }
        }
        // A sync that fails once is not tried again: it would promise too much.
        if !self.has_failed() {
            self.sync_applied();
        }
    }

    /// Waits until there is something to do. What is `tidy` stays so until the next sync.
    fn wait_for_turn(&self, last_sync: Instant, tidy: bool) -> Turn {
        let mut state = self.state.lock();
        loop {
            if state.failed.is_some() || state.drained {
                return Turn::End;
            }
            if state.wanted(Mark::Synced) {
                return Turn::Sync;
            }
            let (interval, turn) = match state.applied == state.synced && !state.is_outdated {
                false => (SYNC_INTERVAL, Turn::Sync),
                true if tidy => {
                    self.sync.wait(&mut state);
                    continue;
                }
                true => (IDLE_INTERVAL, Turn::Tidy),
            };
            let left = interval.saturating_sub(last_sync.elapsed());
            if left.is_zero() || self.sync.wait_for(&mut state, left).timed_out() {
                return turn;
            }
        }
    }

    /// Syncs what has been applied, and shows it to those who may see only that.
    fn sync_applied(&self) {
        let (applied, show) = {
            let _applier = self.pause();
            let mut state = self.state.lock();
            state.is_outdated = false;
            let applied = state.applied;
            drop(state);
            (applied, (self.witness)())
        };
        // Whoever queued something meanwhile relies on us.
        self.work_here();
        if let Err(error) = self.trees.sync(SyncLevel::Disk) {
            return self.fail(lost(&error));
        }
        self.figures.syncs.fetch_add(1, Ordering::Relaxed);
        show();
        let mut state = self.state.lock();
        state.written = state.written.max(applied);
        state.synced = applied;
        state.answer();
    }
}
