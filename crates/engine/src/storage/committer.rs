//! Group commit: one thread writes what everyone has queued, then syncs once
//! for all who asked for it.
//!
//! A commit passes three marks, each a sequence number that only grows:
//! *applied* (later views see it, its intents are gone), *written* (with the
//! operating system) and *synced* (on the disk).

use super::trees::{Change, Reach, Trees};
use super::{CollectionId, Counts, Tree, keys};
use error::{Code, Error, Result};
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What one group may weigh: commits beyond it wait for the next.
const GROUP_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long a relaxed write may stay unsynced.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

/// A set of changes that become visible and survive together.
pub struct Commit {
    pub changes: Vec<Change>,
    /// How the counts of collections change.
    pub counts: Vec<(CollectionId, Delta)>,
    /// Dropped once the commit is applied: intents, catalog guards.
    pub held: Box<dyn Any + Send>,
    /// Run just before the changes become visible, in commit order.
    pub publish: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delta {
    pub documents: i64,
    pub bytes: i64,
}

/// A commit's place in the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The marks a commit passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Applied,
    Written,
    Synced,
}

/// Figures for `serverStatus`.
#[derive(Debug, Default)]
pub struct Figures {
    pub commits: AtomicU64,
    pub writes: AtomicU64,
    pub groups: AtomicU64,
    pub syncs: AtomicU64,
}

pub struct Committer {
    shared: Arc<Shared>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

struct Shared {
    trees: Arc<dyn Trees>,
    state: Mutex<State>,
    work: Condvar,
    figures: Figures,
    /// Commits applied so far.
    applied: AtomicU64,
    /// Called after each sync, before those who waited for it are answered.
    on_sync: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Commit>,
    waiting: Vec<Waiter>,
    submitted: u64,
    applied: u64,
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
        on_sync: Box<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<Committer> {
        let shared = Arc::new(Shared {
            trees,
            state: Mutex::default(),
            work: Condvar::new(),
            figures: Figures::default(),
            applied: AtomicU64::new(0),
            on_sync,
        });
        let worker = shared.clone();
        let thread = std::thread::Builder::new()
            .name("committer".into())
            .spawn(move || Worker { counts: FxHashMap::default(), shared: worker }.run())?;
        Ok(Committer { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Queues a commit. The order of submission is the order of commits.
    pub fn submit(&self, commit: Commit) -> Result<Ticket> {
        let mut state = self.shared.state.lock();
        state.accepts()?;
        state.queue.push_back(commit);
        state.submitted += 1;
        let ticket = Ticket(state.submitted);
        drop(state);
        self.shared.work.notify_one();
        Ok(ticket)
    }

    /// Queues a commit and waits for a mark, in one step.
    pub async fn commit(&self, commit: Commit, mark: Mark) -> Result<Ticket> {
        let (done, wait) = oneshot::channel();
        let ticket = {
            let mut state = self.shared.state.lock();
            state.accepts()?;
            state.queue.push_back(commit);
            state.submitted += 1;
            let ticket = state.submitted;
            state.waiting.push(Waiter { ticket, mark, done });
            Ticket(ticket)
        };
        self.shared.work.notify_one();
        wait.await.unwrap_or_else(|_| Err(stopped()))?;
        Ok(ticket)
    }

    /// Waits until a commit has passed a mark.
    pub async fn reach(&self, ticket: Ticket, mark: Mark) -> Result<()> {
        let wait = {
            let mut state = self.shared.state.lock();
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let passed = match mark {
                Mark::Applied => state.applied,
                Mark::Written | Mark::Synced => state.synced,
            };
            if passed >= ticket.0 {
                return Ok(());
            }
            let (done, wait) = oneshot::channel();
            state.waiting.push(Waiter { ticket: ticket.0, mark, done });
            wait
        };
        self.shared.work.notify_one();
        wait.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub fn figures(&self) -> &Figures {
        &self.shared.figures
    }

    /// How many commits have been applied. It grows before the intents of what
    /// was applied are let go.
    pub fn applied(&self) -> u64 {
        self.shared.applied.load(Ordering::Acquire)
    }

    /// Takes no more commits, finishes those queued, syncs, ends the thread.
    pub fn stop(&self) {
        self.shared.state.lock().stopping = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the committer thread panicked");
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
}

fn stopped() -> Error {
    Code::InterruptedAtShutdown.error("the server is shutting down")
}

struct Worker {
    /// The counts of collections written to since the start, as of the last group.
    counts: FxHashMap<CollectionId, Counts>,
    shared: Arc<Shared>,
}

impl Worker {
    fn run(mut self) {
        let mut last_sync = Instant::now();
        loop {
            let Some(group) = self.next_group(last_sync) else { break };
            let outcome = self.apply(group);
            let outcome = outcome.and_then(|()| self.sync(&mut last_sync));
            if let Err(error) = outcome {
                return self.fail(error);
            }
        }
        let outcome = self.shared.trees.sync(Reach::Disk);
        let mut state = self.shared.state.lock();
        let outcome = outcome.map_err(|error| lost(&*error));
        for waiter in state.waiting.drain(..) {
            // A waiter that is gone has no use for the answer.
            let _ = waiter.done.send(outcome.clone());
        }
    }

    /// Waits for something to do. `None` when stopping and all is done.
    fn next_group(&self, last_sync: Instant) -> Option<Vec<Commit>> {
        let mut state = self.shared.state.lock();
        loop {
            if !state.queue.is_empty() {
                return Some(take_group(&mut state.queue));
            }
            if state.stopping {
                return None;
            }
            if !state.waiting.is_empty() {
                return Some(Vec::new());
            }
            if state.applied == state.synced {
                self.shared.work.wait(&mut state);
                continue;
            }
            let left = SYNC_INTERVAL.saturating_sub(last_sync.elapsed());
            if left.is_zero() || self.shared.work.wait_for(&mut state, left).timed_out() {
                return Some(Vec::new());
            }
        }
    }

    fn apply(&mut self, group: Vec<Commit>) -> Result<()> {
        if group.is_empty() {
            return Ok(());
        }
        let shared = self.shared.clone();
        let figures = &shared.figures;
        let commits = group.len() as u64;
        let mut changes = Vec::with_capacity(group.iter().map(|commit| commit.changes.len()).sum());
        let mut held = Vec::with_capacity(group.len());
        let mut touched: FxHashMap<CollectionId, Counts> = FxHashMap::default();
        for commit in group {
            let mut writes = 0;
            for (collection, delta) in commit.counts {
                writes += delta.documents.unsigned_abs().max(1);
                let counts = self.count(collection, delta)?;
                touched.insert(collection, counts);
            }
            figures.writes.fetch_add(writes, Ordering::Relaxed);
            changes.extend(commit.changes);
            if let Some(publish) = commit.publish {
                publish();
            }
            held.push(commit.held);
        }
        for (collection, counts) in touched {
            let value = Some(counts.write());
            changes.push(Change { tree: Tree::Records, key: keys::counts(collection), value });
        }
        if commits > 1 {
            keep_last_rows(&mut changes);
        }
        self.shared.trees.apply(changes).map_err(|error| lost(&*error))?;
        self.shared.applied.fetch_add(commits, Ordering::Release);
        figures.commits.fetch_add(commits, Ordering::Relaxed);
        figures.groups.fetch_add(1, Ordering::Relaxed);
        drop(held);
        let mut state = self.shared.state.lock();
        state.applied += commits;
        let applied = state.applied;
        answer(&mut state, Mark::Applied, applied);
        Ok(())
    }

    fn count(&mut self, collection: CollectionId, delta: Delta) -> Result<Counts> {
        let counts = match self.counts.get(&collection) {
            Some(counts) => *counts,
            None => {
                let row =
                    self.shared.trees.snapshot().get(Tree::Records, &keys::counts(collection));
                row.map_err(|error| lost(&*error))?
                    .map_or_else(Counts::default, |row| Counts::read(&row))
            }
        };
        let counts = Counts {
            documents: counts.documents.saturating_add_signed(delta.documents),
            bytes: counts.bytes.saturating_add_signed(delta.bytes),
        };
        self.counts.insert(collection, counts);
        Ok(counts)
    }

    /// Syncs as far as someone waits for, or the interval asks for.
    fn sync(&self, last_sync: &mut Instant) -> Result<()> {
        let (applied, wanted) = {
            let state = self.shared.state.lock();
            let wanted =
                |mark| state.waiting.iter().any(|w| w.mark == mark && w.ticket <= state.applied);
            let due = state.applied > state.synced && last_sync.elapsed() >= SYNC_INTERVAL;
            let reach = if wanted(Mark::Synced) || due {
                Some(Reach::Disk)
            } else if wanted(Mark::Written) {
                Some(Reach::System)
            } else {
                None
            };
            (state.applied, reach)
        };
        let Some(reach) = wanted else { return Ok(()) };
        self.shared.trees.sync(reach).map_err(|error| lost(&*error))?;
        if reach == Reach::Disk {
            *last_sync = Instant::now();
            self.shared.figures.syncs.fetch_add(1, Ordering::Relaxed);
            (self.shared.on_sync)();
        }
        let mut state = self.shared.state.lock();
        answer(&mut state, Mark::Written, applied);
        if reach == Reach::Disk {
            state.synced = applied;
            answer(&mut state, Mark::Synced, applied);
        }
        Ok(())
    }

    /// Poisons the store: what was not synced is unknown, so nothing more is taken.
    fn fail(self, error: Error) {
        tracing::error!(%error, "the store takes no more writes");
        let mut state = self.shared.state.lock();
        state.failed = Some(error.clone());
        state.queue.clear();
        for waiter in state.waiting.drain(..) {
            let _ = waiter.done.send(Err(error.clone()));
        }
    }
}

fn take_group(queue: &mut VecDeque<Commit>) -> Vec<Commit> {
    let mut bytes = 0;
    let fits = queue.iter().take_while(|commit| {
        let fits = bytes <= GROUP_BYTES_MAX;
        bytes +=
            commit.changes.iter().map(|c| c.value.as_ref().map_or(0, |v| v.len())).sum::<usize>();
        fits
    });
    let count = fits.count();
    queue.drain(..count).collect()
}

/// Intents keep the commits of a group from writing the same key, but for rows
/// of the catalog that several may set to the same value.
fn keep_last_rows(changes: &mut Vec<Change>) {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut at = changes.len();
    while at > 0 {
        at -= 1;
        let Change { tree, key, .. } = &changes[at];
        if *tree == Tree::Records && keys::is_row(key) && !seen.insert(key.clone()) {
            changes.swap_remove(at);
        }
    }
}

/// Answers those who wait for a mark that `passed` has now reached.
fn answer(state: &mut State, mark: Mark, passed: u64) {
    let ready = |waiter: &mut Waiter| waiter.mark == mark && waiter.ticket <= passed;
    for waiter in state.waiting.extract_if(.., ready) {
        let _ = waiter.done.send(Ok(()));
    }
}

fn lost(error: &(dyn std::error::Error + Send + Sync)) -> Error {
    Code::InternalError.error(format!(
        "the store could not be written ({error}) and takes no more writes; \
         check the disk and restart the server"
    ))
}
