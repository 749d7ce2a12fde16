//! The queue of commits, those who wait for them, and the thread that syncs.

use super::applier::Applier;
use super::{Commit, Figures, Mark, Ticket};
use crate::growth::Growth;
use crate::storage::Log;
use crate::storage::trees::{Failure, Full, Reach, Trees};
use error::{Code, Error, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// What one group may weigh: commits beyond it wait for the next.
const GROUP_BYTES_MAX: usize = 32 * 1024 * 1024;
/// What a group may hold and still be applied by whoever submits it.
const QUICK_CHANGES_MAX: usize = 512;
/// How long a relaxed write may stay unsynced.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

pub struct Committer {
    shared: Arc<Shared>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

struct Shared {
    trees: Arc<dyn Trees>,
    /// Held while commits are applied, and through a sync: the trees make those
    /// who apply wait for a sync, and then the queue is the better place.
    applier: Mutex<Applier>,
    state: Mutex<State>,
    /// Rings for the committer thread.
    work: Condvar,
    figures: Figures,
    /// Commits applied so far, as `State` has it.
    applied: AtomicU64,
    /// Called after each sync, before those who waited for it are answered.
    on_sync: Box<dyn Fn() + Send + Sync>,
    /// Why nothing is taken any more, for those who wait to hear it.
    failure: watch::Sender<Option<Error>>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Commit>,
    waiting: Vec<Waiter>,
    submitted: u64,
    applied: u64,
    written: u64,
    synced: u64,
    /// Set once a write or sync has failed: nothing is taken any more.
    failed: Option<Error>,
    stopping: bool,
}

struct Waiter {
    ticket: u64,
    mark: Mark,
    done: oneshot::Sender<Result<()>>,
}

impl Committer {
    pub fn start(
        trees: Arc<dyn Trees>,
        log: Arc<Log>,
        growth: Arc<Growth>,
        on_sync: Box<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<Committer> {
        let shared = Arc::new(Shared {
            trees,
            applier: Mutex::new(Applier::new(log, growth)),
            state: Mutex::default(),
            work: Condvar::new(),
            figures: Figures::default(),
            applied: AtomicU64::new(0),
            on_sync,
            failure: watch::Sender::new(None),
        });
        let worker = shared.clone();
        let thread =
            std::thread::Builder::new().name("committer".into()).spawn(move || worker.work())?;
        Ok(Committer { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Queues a commit and applies it. The order of submission is the order of commits.
    pub fn submit(&self, commit: Commit) -> Result<Ticket> {
        self.shared.queue(commit).map(|queued| queued.ticket())
    }

    /// Queues a commit, lets those who are about to commit queue theirs, and applies them
    /// together: a group costs little more than a commit.
    pub async fn submit_with_others(&self, commit: Commit) -> Result<Ticket> {
        let queued = self.shared.queue(commit)?;
        tokio::task::yield_now().await;
        Ok(queued.ticket())
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
            self.shared.write_here(ticket);
        }
        let wait = {
            let mut state = self.shared.state.lock();
            if state.passed(mark) >= ticket.0 {
                return Ok(());
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let (done, wait) = oneshot::channel();
            state.waiting.push(Waiter { ticket: ticket.0, mark, done });
            wait
        };
        match mark {
            Mark::Applied | Mark::Written => self.shared.work_here(),
            Mark::Synced => {
                self.shared.work.notify_one();
            }
        }
        wait.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub fn figures(&self) -> &Figures {
        &self.shared.figures
    }

    /// The newest commit that has been applied.
    pub fn newest(&self) -> Ticket {
        Ticket(self.applied())
    }

    /// How many commits have been applied. It grows before the intents of what
    /// was applied are let go.
    pub fn applied(&self) -> u64 {
        self.shared.applied.load(Ordering::Acquire)
    }

    pub fn failure(&self) -> watch::Receiver<Option<Error>> {
        self.shared.failure.subscribe()
    }

    /// Takes no more commits, since the trees have failed.
    pub fn fail(&self, error: &Failure) {
        self.shared.fail(lost(error));
    }

    /// Takes no more commits, finishes those queued, syncs, ends the thread. After a
    /// failure the thread is not waited for: the trees may hold it for ever.
    pub fn stop(&self) {
        let failed = {
            let mut state = self.shared.state.lock();
            state.stopping = true;
            state.failed.is_some()
        };
        self.shared.work.notify_one();
        if failed {
            return;
        }
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the committer thread panicked");
        }
    }
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
        if self.shared.applied.load(Ordering::Acquire) < self.ticket {
            self.shared.work_here();
        }
    }
}

impl State {
    fn accepts(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None if self.stopping => Err(stopped()),
            None => Ok(()),
        }
    }

    fn passed(&self, mark: Mark) -> u64 {
        match mark {
            Mark::Applied => self.applied,
            Mark::Written => self.written,
            Mark::Synced => self.synced,
        }
    }

    /// Whether someone waits for a mark that can be reached now.
    fn wanted(&self, mark: Mark) -> bool {
        self.waiting.iter().any(|waiter| waiter.mark == mark && waiter.ticket <= self.applied)
    }

    /// Whether there is something that need not wait for the committer thread.
    fn has_work_here(&self) -> bool {
        !self.queue.is_empty() || self.wanted(Mark::Written)
    }

    /// Answers those whose mark has been passed.
    fn answer(&mut self) {
        let (applied, written, synced) = (self.applied, self.written, self.synced);
        let ready = |waiter: &mut Waiter| {
            waiter.ticket
                <= match waiter.mark {
                    Mark::Applied => applied,
                    Mark::Written => written,
                    Mark::Synced => synced,
                }
        };
        for waiter in self.waiting.extract_if(.., ready) {
            // A waiter that is gone has no use for the answer.
            let _ = waiter.done.send(Ok(()));
        }
    }
}

impl Shared {
    fn queue(&self, commit: Commit) -> Result<Queued<'_>> {
        let mut state = self.state.lock();
        state.accepts()?;
        state.queue.push_back(commit);
        state.submitted += 1;
        Ok(Queued { shared: self, ticket: state.submitted })
    }

    /// Applies what is queued, and writes what someone waits to have written, on the
    /// caller's thread, unless someone else is at work, who then looks again when done,
    /// or it would take long.
    fn work_here(&self) {
        loop {
            {
                let Some(mut applier) = self.applier.try_lock() else { return };
                let (group, first) = {
                    let mut state = self.state.lock();
                    let changes: usize = state.queue.iter().map(Commit::changes).sum();
                    if changes > QUICK_CHANGES_MAX {
                        self.work.notify_one();
                        return;
                    }
                    (take_group(&mut state.queue), state.applied == state.synced)
                };
                if !group.is_empty() {
                    self.apply(&mut applier, group);
                    if first {
                        // From now on there is something to sync within the interval.
                        self.work.notify_one();
                    }
                }
                if self.state.lock().wanted(Mark::Written) {
                    self.write();
                }
            }
            if !self.state.lock().has_work_here() {
                return;
            }
        }
    }

    /// Has a commit written on the caller's thread, unless someone else is at work.
    fn write_here(&self, ticket: Ticket) {
        {
            let Some(_applier) = self.applier.try_lock() else { return };
            if self.state.lock().written < ticket.0 {
                self.write();
            }
        }
        // Someone may have come by while it was at work.
        if self.state.lock().has_work_here() {
            self.work_here();
        }
    }

    /// Hands what was applied to the operating system. The caller holds the applier.
    fn write(&self) {
        let applied = {
            let state = self.state.lock();
            if state.failed.is_some() {
                return;
            }
            state.applied
        };
        match self.trees.sync(Reach::System) {
            Ok(()) => {
                let mut state = self.state.lock();
                state.written = state.written.max(applied);
                state.answer();
            }
            Err(error) => self.fail(lost(&error)),
        }
    }

    fn apply(&self, applier: &mut Applier, group: Vec<Commit>) {
        let commits = group.len() as u64;
        match applier.apply(group, &*self.trees, &self.figures) {
            Ok(held) => {
                self.applied.fetch_add(commits, Ordering::Release);
                drop(held);
                let mut state = self.state.lock();
                state.applied += commits;
                state.answer();
            }
            Err(error) => self.fail(lost(&error)),
        }
    }

    /// The committer thread.
    fn work(&self) {
        let mut last_sync = Instant::now();
        while self.wait_for_work(last_sync) {
            let mut applier = self.applier.lock();
            let group = take_group(&mut self.state.lock().queue);
            if !group.is_empty() {
                self.apply(&mut applier, group);
            }
            self.sync(&mut last_sync);
        }
        if self.state.lock().failed.is_some() {
            // A sync that fails once is not tried again: it would promise too much.
            return;
        }
        let _applier = self.applier.lock();
        let outcome = self.trees.sync(Reach::Disk).map_err(|error| lost(&error));
        for waiter in self.state.lock().waiting.drain(..) {
            let _ = waiter.done.send(outcome.clone());
        }
    }

    /// Waits until there is something to do; false when there never will be.
    fn wait_for_work(&self, last_sync: Instant) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.failed.is_some() {
                return false;
            }
            if !state.queue.is_empty() || !state.waiting.is_empty() {
                return true;
            }
            if state.stopping {
                return false;
            }
            if state.applied == state.synced {
                self.work.wait(&mut state);
                continue;
            }
            let left = SYNC_INTERVAL.saturating_sub(last_sync.elapsed());
            if left.is_zero() || self.work.wait_for(&mut state, left).timed_out() {
                return true;
            }
        }
    }

    /// Syncs as far as someone waits for, or the interval asks for.
    fn sync(&self, last_sync: &mut Instant) {
        let (applied, reach) = {
            let state = self.state.lock();
            let due = state.applied > state.synced && last_sync.elapsed() >= SYNC_INTERVAL;
            let reach = if state.wanted(Mark::Synced) || due {
                Reach::Disk
            } else if state.wanted(Mark::Written) {
                Reach::System
            } else {
                return;
            };
            (state.applied, reach)
        };
        if let Err(error) = self.trees.sync(reach) {
            return self.fail(lost(&error));
        }
        if reach == Reach::Disk {
            *last_sync = Instant::now();
            self.figures.syncs.fetch_add(1, Ordering::Relaxed);
            (self.on_sync)();
        }
        let mut state = self.state.lock();
        state.written = state.written.max(applied);
        if reach == Reach::Disk {
            state.synced = applied;
        }
        state.answer();
    }

    /// Poisons the store: what was not synced is unknown, so nothing more is taken.
    fn fail(&self, error: Error) {
        let queue = {
            let mut state = self.state.lock();
            if state.failed.is_some() {
                return;
            }
            state.failed = Some(error.clone());
            for waiter in state.waiting.drain(..) {
                let _ = waiter.done.send(Err(error.clone()));
            }
            std::mem::take(&mut state.queue)
        };
        // What the commits hold is let go without the lock.
        drop(queue);
        tracing::error!(%error, "the store takes no more writes");
        self.failure.send_replace(Some(error));
        self.work.notify_one();
    }
}

fn take_group(queue: &mut VecDeque<Commit>) -> Vec<Commit> {
    let mut bytes = 0;
    let fits = queue.iter().take_while(|commit| {
        let fits = bytes <= GROUP_BYTES_MAX;
        bytes += commit.size_bytes();
        fits
    });
    let count = fits.count();
    queue.drain(..count).collect()
}

fn stopped() -> Error {
    Code::InterruptedAtShutdown.error("the server is shutting down")
}

fn lost(error: &Failure) -> Error {
    if error.is::<Full>() {
        return Code::OutOfDiskSpace.error(format!(
            "{error} and the store takes no more writes; make room and restart the server"
        ));
    }
    Code::InternalError.error(format!(
        "the store could not be written ({error}) and takes no more writes; \
         check the disk and restart the server"
    ))
}
