//! How far the log has been synced, and its bound.

use crate::Engine;
use crate::storage::clock::timestamp;
use crate::storage::{Commit, LogChange, Mark, Position, Tree, TreeChange, keys};
use bson::Timestamp;
use error::Result;
use std::sync::Arc;

/// Events removed in one commit.
const TRIM_EVENTS_MAX: usize = 1_024;
/// An outgrown log is trimmed to this share of its bound, in sixteenths.
const TRIM_SIXTEENTHS: u64 = 15;

impl Engine {
    /// The cluster time of the last commit that has been synced.
    pub fn cluster_time(&self) -> Timestamp {
        timestamp(self.store.clock().synced())
    }

    /// Waits until every event so far has been synced.
    pub async fn log_synced(&self) {
        let clock = self.store.clock();
        let last = clock.last();
        // It fails only when the store is gone, and then nobody reads it.
        let _ = clock.reached().wait_for(|synced| *synced >= last).await;
    }

    /// Trims the log whenever it has outgrown its bound, until the engine closes.
    pub(crate) async fn trim_log(self: Arc<Self>) {
        loop {
            self.store.log().outgrown.notified().await;
            if let Err(error) = self.trim().await {
                tracing::debug!(%error, "trimming the log of changes stopped");
                return;
            }
        }
    }

    async fn trim(&self) -> Result<()> {
        let log = self.store.log();
        let bound = log.bytes_max();
        if log.bytes() <= bound {
            return Ok(());
        }
        let wanted = bound / 16 * TRIM_SIXTEENTHS;
        while log.bytes() > wanted {
            let mut over = log.bytes() - wanted;
            let (mut changes, mut bytes, mut last) = (Vec::new(), 0, 0);
            let view = self.store.view();
            for event in view.logged_after(Position::before(log.start())).take(TRIM_EVENTS_MAX) {
                let (position, event) = event?;
                let key = keys::log_event(position).into();
                changes.push(TreeChange { tree: Tree::Large, key, value: None });
                bytes += event.len() as u64;
                last = position.time;
                over = over.saturating_sub(event.len() as u64);
                if over == 0 {
                    break;
                }
            }
            drop(view);
            if changes.is_empty() {
                return Ok(());
            }
            let log = LogChange::Trim { start: last + 1, bytes };
            self.store.commit(Commit { log, ..Commit::of(changes) }, Mark::Applied).await?;
        }
        Ok(())
    }
}
