//! Storing packed rows ahead of their commit, in batches that others come between.

use super::{Backlog, Packed, removed};
use crate::storage::Space;
use crate::storage::commit::{Commit, Committer, Mark};
use error::Result;
use std::time::{Duration, Instant};

/// Rows of so many bytes are stored with their commit.
const WITH_COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What is stored in one batch ahead of it.
const BATCH_BYTES: usize = 1024 * 1024;
/// How long a batch waits for the trees to catch up.
const CATCH_UP_MAX: Duration = Duration::from_secs(1);
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(5);

/// Rows ahead of a commit; removed unless it comes.
pub struct Staged<'a> {
    committer: &'a Committer,
    number: u64,
    rows: u32,
}

impl Packed {
    /// Stores the rows ahead of their commit if they are many.
    pub async fn stage<'a>(
        &mut self,
        backlog: &Backlog,
        space: &Space,
        committer: &'a Committer,
    ) -> Result<Option<Staged<'a>>> {
        if self.size_bytes() <= WITH_COMMIT_BYTES_MAX {
            return Ok(None);
        }
        let number = backlog.next_number();
        self.number = Some(number);
        let mut staged = Staged { committer, number, rows: 0 };
        // What only removes gives room back.
        let takes_room = self.changes.all.iter().any(|change| change.value.is_some());
        loop {
            if takes_room {
                space.check()?;
            }
            let batch = self.take_rows(number, BATCH_BYTES);
            if batch.is_empty() {
                return Ok(Some(staged));
            }
            catch_up(backlog).await;
            staged.rows = self.rows;
            committer.commit(Commit::of(batch), Mark::Applied).await?;
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until the trees have caught up: others would have to wait for them as well.
async fn catch_up(backlog: &Backlog) {
    let until = Instant::now() + CATCH_UP_MAX;
    while backlog.trees.is_behind() && Instant::now() < until {
        tokio::time::sleep(CATCH_UP_INTERVAL).await;
    }
}

impl Staged<'_> {
    /// The commit has been handed in: the rows are its own.
    pub fn keep(mut self) {
        self.rows = 0;
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.rows == 0 {
            return;
        }
        // A store that takes no more commits has its rows removed by the next start.
        let _ = self.committer.submit(Commit::of(removed(self.number, self.rows).collect()));
    }
}
