//! The queue of commits and those who wait for them.

use super::applier::Applier;
use super::shared::{Shared, lost};
use super::state::stopped;
use super::{Commit, CommitFigures, CommitProgress, Mark, Ticket, Witness};
use crate::storage::trees::{Failure, Trees};
use error::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Between two looks at whether a thread has ended.
const END_INTERVAL: Duration = Duration::from_millis(1);

pub struct Committer {
    shared: Arc<Shared>,
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    /// Applies what is too much for those who submit it.
    committer: JoinHandle<()>,
    syncer: JoinHandle<()>,
}

impl Committer {
    pub fn start(
        trees: Arc<dyn Trees>,
        applier: Applier,
        witness: Witness,
    ) -> std::io::Result<Committer> {
        let shared = Arc::new(Shared::new(trees, applier, witness));
        let (applying, syncing) = (shared.clone(), shared.clone());
        let threads = Threads {
            committer: Builder::new().name("committer".into()).spawn(move || applying.work())?,
            syncer: Builder::new().name("syncer".into()).spawn(move || syncing.sync_in_turn())?,
        };
        Ok(Committer { shared, threads: Mutex::new(Some(threads)) })
    }

    /// Queues a commit and applies it. The order of submission is the order of commits.
    pub fn submit(&self, commit: Commit) -> Result<Ticket> {
        self.queue(commit).map(|queued| queued.ticket())
    }

    /// Queues a commit, lets those who are about to commit queue theirs, and applies them
    /// together: a group costs little more than a commit. One whose changes are deferred
    /// is waited for: the next statement then meets no intent of its own client, and no client
    /// has more than one to be settled.
    pub async fn submit_with_others(&self, commit: Commit) -> Result<Ticket> {
        let is_deferred = commit.is_deferred();
        let queued = self.queue(commit)?;
        tokio::task::yield_now().await;
        let ticket = queued.ticket();
        drop(queued);
        if is_deferred {
            self.settle(ticket).await;
        }
        Ok(ticket)
    }

    /// Waits until a commit is settled, or never will be. It is stored in either case: its
    /// acknowledgement says whether it survives.
    pub async fn settle(&self, ticket: Ticket) {
        let _ = self.reach(ticket, Mark::Settled).await;
    }

    fn queue(&self, commit: Commit) -> Result<Queued<'_>> {
        let ticket = self.shared.queue(commit)?;
        Ok(Queued { shared: &self.shared, ticket })
    }

    /// Queues a commit and waits for a mark.
    pub async fn commit(&self, commit: Commit, mark: Mark) -> Result<Ticket> {
        let ticket = self.submit(commit)?;
        self.reach(ticket, mark).await?;
        Ok(ticket)
    }

    /// Waits until a commit has passed a mark.
    pub async fn reach(&self, ticket: Ticket, mark: Mark) -> Result<()> {
        if mark == Mark::Written {
            self.shared.write_here(ticket.0);
        }
        let Some(wait) = self.shared.wait(ticket.0, mark)? else { return Ok(()) };
        wait.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub fn figures(&self) -> &CommitFigures {
        self.shared.figures()
    }

    /// The newest commit that has been applied.
    pub fn newest(&self) -> Ticket {
        Ticket(self.applied())
    }

    /// How many commits have been applied. It grows before the intents of what
    /// was applied are let go.
    pub fn applied(&self) -> u64 {
        self.shared.applied()
    }

    pub fn progress(&self) -> CommitProgress {
        let threads = self.threads.lock();
        // Once it stops there is nothing left to do.
        let alive = threads.as_ref().is_none_or(|threads| {
            !threads.committer.is_finished() && !threads.syncer.is_finished()
        });
        let (submitted, synced) = self.shared.reached();
        CommitProgress { submitted, synced, alive }
    }

    pub fn failure(&self) -> watch::Receiver<Option<Error>> {
        self.shared.failure()
    }

    /// Takes no more commits, since the trees have failed.
    pub fn fail(&self, error: &Failure) {
        self.shared.fail(lost(error));
    }

    /// Takes no more commits, finishes those queued, syncs, ends the threads; false if that
    /// was not done by then, as when the trees hold writers up. What is left was acknowledged
    /// to nobody. After a failure the threads are not waited for: the trees may hold them for
    /// ever.
    pub fn stop(&self, until: Instant) -> bool {
        self.shared.stop_queueing();
        let threads = self.threads.lock().take().filter(|_| !self.shared.has_failed());
        let Some(Threads { committer, syncer }) = threads else { return true };
        let applied = end(committer, until);
        self.shared.stop_applying();
        end(syncer, until) && applied
    }
}

/// Waits for a thread to end; false if it does not by then.
fn end(thread: JoinHandle<()>, until: Instant) -> bool {
    while !thread.is_finished() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(END_INTERVAL);
    }
    let name = thread.thread().name().unwrap_or_default().to_owned();
    if thread.join().is_err() {
        tracing::error!("the {name} thread panicked");
    }
    true
}

/// A commit in the queue. Whoever lets go of it, even by being cancelled, sees to it
/// that it is applied.
struct Queued<'a> {
    shared: &'a Shared,
    ticket: u64,
}

impl Queued<'_> {
    fn ticket(&self) -> Ticket {
        Ticket(self.ticket)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if self.shared.applied() < self.ticket {
            self.shared.work_here();
        }
    }
}
