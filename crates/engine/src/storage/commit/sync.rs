//! The thread that syncs. Commits are applied meanwhile: what a sync promises is what
//! had been applied when it began.

use super::Mark;
use super::shared::{Shared, lost};
use crate::storage::trees::Reach;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a relaxed write may stay unsynced.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

impl Shared {
    pub fn sync_in_turn(&self) {
        let mut last_sync = Instant::now();
        while self.wait_to_sync(last_sync) {
            self.sync_applied();
            last_sync = Instant::now();
        }
        // A sync that fails once is not tried again: it would promise too much.
        if !self.has_failed() {
            self.sync_applied();
        }
    }

    /// Waits until there is something to sync; false when there never will be.
    fn wait_to_sync(&self, last_sync: Instant) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.failed.is_some() || state.drained {
                return false;
            }
            if state.wanted(Mark::Synced) {
                return true;
            }
            if state.applied == state.synced {
                self.sync.wait(&mut state);
                continue;
            }
            let left = SYNC_INTERVAL.saturating_sub(last_sync.elapsed());
            if left.is_zero() || self.sync.wait_for(&mut state, left).timed_out() {
                return true;
            }
        }
    }

    /// Syncs what has been applied, and shows it to those who may see only that.
    fn sync_applied(&self) {
        let (applied, show) = {
            let _applier = self.pause();
            (self.state.lock().applied, (self.witness)())
        };
        // Whoever queued something meanwhile relies on us.
        self.work_here();
        if let Err(error) = self.trees.sync(Reach::Disk) {
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
