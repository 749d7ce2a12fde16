//! What is queued, how far commits have come, and who waits for them.

use super::settle::Settling;
use super::{Commit, Mark};
use error::{Code, Error, Result};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// What one group may weigh: commits beyond it wait for the next.
const GROUP_BYTES_MAX: usize = 32 * 1024 * 1024;

#[derive(Default)]
pub struct CommitterState {
    pub queue: VecDeque<Commit>,
    waiting: Vec<Waiter>,
    /// Commits that have been applied and are to be settled, in order.
    pub unsettled: VecDeque<Settling>,
    pub submitted: u64,
    pub applied: u64,
    pub written: u64,
    pub synced: u64,
    /// Something has been settled since the last sync: what that shows keeps its changes in
    /// memory.
    pub is_outdated: bool,
    /// Set once a write or sync has failed: nothing is taken any more.
    pub failed: Option<Error>,
    /// Nothing more is queued.
    pub stopping: bool,
    /// Nothing more is applied either.
    pub drained: bool,
}

struct Waiter {
    ticket: u64,
    mark: Mark,
    done: oneshot::Sender<Result<()>>,
}

impl CommitterState {
    pub fn accepts(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None if self.stopping => Err(stopped()),
            None => Ok(()),
        }
    }

    /// What to wait on until a commit has passed a mark; `None` if it has.
    pub fn wait(
        &mut self,
        ticket: u64,
        mark: Mark,
    ) -> Result<Option<oneshot::Receiver<Result<()>>>> {
        if self.passed(mark) >= ticket {
            return Ok(None);
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let (done, wait) = oneshot::channel();
        self.waiting.push(Waiter { ticket, mark, done });
        Ok(Some(wait))
    }

    fn passed(&self, mark: Mark) -> u64 {
        match mark {
            Mark::Applied => self.applied,
            Mark::Settled => self.settled(),
            Mark::Written => self.written,
            Mark::Synced => self.synced,
        }
    }

    /// Up to where commits are settled.
    fn settled(&self) -> u64 {
        self.unsettled.front().map_or(self.applied, |first| first.ticket - 1)
    }

    /// Whether someone waits for a mark that can be reached now.
    pub fn wanted(&self, mark: Mark) -> bool {
        self.waiting.iter().any(|waiter| waiter.mark == mark && waiter.ticket <= self.applied)
    }

    /// Whether there is something that need not wait for a thread of its own.
    pub fn has_work_here(&self) -> bool {
        !self.queue.is_empty() || self.wanted(Mark::Written)
    }

    /// Answers those whose mark has been passed.
    pub fn answer(&mut self) {
        let (applied, written, synced) = (self.applied, self.written, self.synced);
        let settled = self.settled();
        let ready = |waiter: &mut Waiter| {
            waiter.ticket
                <= match waiter.mark {
                    Mark::Applied => applied,
                    Mark::Settled => settled,
                    Mark::Written => written,
                    Mark::Synced => synced,
                }
        };
        for waiter in self.waiting.extract_if(.., ready) {
            // A waiter that is gone has no use for the answer.
            let _ = waiter.done.send(Ok(()));
        }
    }

    /// Takes no more commits, and tells everyone why; gives back what was queued.
    pub fn fail(&mut self, error: &Error) -> VecDeque<Commit> {
        self.failed = Some(error.clone());
        for waiter in self.waiting.drain(..) {
            let _ = waiter.done.send(Err(error.clone()));
        }
        std::mem::take(&mut self.queue)
    }

    /// The commits that are applied next.
    pub fn take_group(&mut self) -> Vec<Commit> {
        let mut bytes = 0;
        let fits = self.queue.iter().take_while(|commit| {
            let fits = bytes <= GROUP_BYTES_MAX;
            bytes += commit.size_bytes();
            fits
        });
        let count = fits.count();
        self.queue.drain(..count).collect()
    }
}

pub fn stopped() -> Error {
    Code::InterruptedAtShutdown.error("the server is shutting down")
}
