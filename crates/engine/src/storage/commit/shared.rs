//! Applying what is queued and handing it to the operating system, on whichever thread
//! is at hand.

use super::applier::{AppliedGroup, Applier};
use super::settle::Settling;
use super::state::CommitterState;
use super::{Commit, CommitFigures, Mark, Witness};
use crate::storage::trees::{Failure, Full, SyncLevel, Trees};
use error::{Code, Error, Result};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{oneshot, watch};

/// What a group may hold and still be applied by whoever submits it.
const QUICK_CHANGES_MAX: usize = 512;

pub struct Shared {
    pub(super) trees: Arc<dyn Trees>,
    /// Held while commits are applied.
    pub(super) applier: Mutex<Applier>,
    pub(super) state: Mutex<CommitterState>,
    /// Rings for the committer thread.
    pub(super) work: Condvar,
    /// Rings for the thread that syncs.
    pub(super) sync: Condvar,
    pub(super) figures: CommitFigures,
    /// Commits applied so far, as `CommitterState` has it.
    applied: AtomicU64,
    pub(super) witness: Witness,
    /// Why nothing is taken any more, for those who wait to hear it.
    failure: watch::Sender<Option<Error>>,
}

impl Shared {
    pub fn new(trees: Arc<dyn Trees>, applier: Applier, witness: Witness) -> Shared {
        Shared {
            trees,
            applier: Mutex::new(applier),
            state: Mutex::default(),
            work: Condvar::new(),
            sync: Condvar::new(),
            figures: CommitFigures::default(),
            applied: AtomicU64::new(0),
            witness,
            failure: watch::Sender::new(None),
        }
    }

    pub fn figures(&self) -> &CommitFigures {
        &self.figures
    }

    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    pub fn failure(&self) -> watch::Receiver<Option<Error>> {
        self.failure.subscribe()
    }

    /// The last commit that was queued, and the last that was synced.
    pub fn reached(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.submitted, state.synced)
    }

    pub fn has_failed(&self) -> bool {
        self.state.lock().failed.is_some()
    }

    /// Queues a commit, and gives its ticket.
    pub fn queue(&self, commit: Commit) -> Result<u64> {
        let mut state = self.state.lock();
        state.accepts()?;
        state.queue.push_back(commit);
        state.submitted += 1;
        Ok(state.submitted)
    }

    /// What to wait on until a commit has passed a mark; `None` if it has.
    pub fn wait(&self, ticket: u64, mark: Mark) -> Result<Option<oneshot::Receiver<Result<()>>>> {
        let wait = self.state.lock().wait(ticket, mark)?;
        if wait.is_some() {
            match mark {
                Mark::Applied | Mark::Settled | Mark::Written => self.work_here(),
                Mark::Synced => {
                    self.sync.notify_one();
                }
            }
        }
        Ok(wait)
    }

    /// Applies what is queued, and writes what someone waits to have written, on the
    /// caller's thread, unless someone else is at work, who then looks again when done,
    /// or it would take long.
    pub fn work_here(&self) {
        loop {
            {
                let Some(mut applier) = self.applier.try_lock() else { return };
                let group = {
                    let mut state = self.state.lock();
                    let changes: usize = state.queue.iter().map(Commit::changes).sum();
                    if changes > QUICK_CHANGES_MAX {
                        self.work.notify_one();
                        return;
                    }
                    state.take_group()
                };
                self.apply(&mut applier, group);
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
    pub fn write_here(&self, ticket: u64) {
        {
            let Some(_applier) = self.applier.try_lock() else { return };
            if self.state.lock().written < ticket {
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
        match self.trees.sync(SyncLevel::System) {
            Ok(()) => {
                let mut state = self.state.lock();
                state.written = state.written.max(applied);
                state.answer();
            }
            Err(error) => self.fail(lost(&error)),
        }
    }

    fn apply(&self, applier: &mut Applier, group: Vec<Commit>) {
        if group.is_empty() {
            return;
        }
        let commits = group.len() as u64;
        match applier.apply(group, &*self.trees, &self.figures) {
            Ok(AppliedGroup { held, unsettled }) => {
                self.applied.fetch_add(commits, Ordering::Release);
                drop(held);
                let mut state = self.state.lock();
                let first = state.applied + 1;
                state.unsettled.extend(unsettled.into_iter().map(|it| Settling::new(first, it)));
                // From the first on there is something to sync within the interval.
                let is_first = state.applied == state.synced;
                state.applied += commits;
                state.answer();
                if is_first || state.wanted(Mark::Synced) {
                    self.sync.notify_one();
                }
            }
            Err(error) => self.fail(lost(&error)),
        }
    }

    /// The committer thread: applies what nobody else does.
    pub fn work(&self) {
        while self.wait_for_commits() {
            {
                let mut applier = self.applier.lock();
                let group = self.state.lock().take_group();
                self.apply(&mut applier, group);
                if self.state.lock().wanted(Mark::Written) {
                    self.write();
                }
            }
            self.settle_some();
        }
        self.leave_unsettled();
    }

    /// Waits until something is queued or to be settled; false when nothing ever will be.
    fn wait_for_commits(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.failed.is_some() {
                return false;
            }
            if state.has_work_here() {
                return true;
            }
            if state.stopping {
                return false;
            }
            if !state.unsettled.is_empty() {
                return true;
            }
            self.work.wait(&mut state);
        }
    }

    /// Keeps commits from being applied as long as it is held.
    pub(super) fn pause(&self) -> MutexGuard<'_, Applier> {
        self.applier.lock()
    }

    pub fn stop_queueing(&self) {
        self.state.lock().stopping = true;
        self.work.notify_one();
    }

    pub fn stop_applying(&self) {
        self.state.lock().drained = true;
        self.sync.notify_one();
    }

    /// Poisons the store: what was not synced is unknown, so nothing more is taken.
    pub fn fail(&self, error: Error) {
        let queue = {
            let mut state = self.state.lock();
            if state.failed.is_some() {
                return;
            }
            state.fail(&error)
        };
        // What the commits hold is let go without the lock.
        drop(queue);
        tracing::error!(%error, "the store takes no more writes");
        self.failure.send_replace(Some(error));
        self.work.notify_one();
        self.sync.notify_one();
    }
}

pub fn lost(error: &Failure) -> Error {
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
