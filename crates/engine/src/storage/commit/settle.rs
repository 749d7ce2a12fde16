//! Settling commits: their deferred changes are added to the trees, a piece after each
//! group of other commits.

use super::applier::Unsettled;
use super::shared::{Shared, lost};
use crate::storage::deferred::Deferred;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// Between two looks at whether the trees have caught up.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(5);

/// A commit that is being settled.
pub struct Settling {
    pub ticket: u64,
    deferred: Arc<Deferred>,
    /// Where its next piece begins.
    next: usize,
    held: Option<Box<dyn Any + Send>>,
}

impl Settling {
    /// One of a group whose first commit has this ticket.
    pub fn new(first: u64, unsettled: Unsettled) -> Settling {
        let Unsettled { at, deferred, held } = unsettled;
        Settling { ticket: first + at as u64, deferred, next: 0, held: Some(held) }
    }
}

impl Shared {
    /// Adds a piece of what is deferred, unless the trees are behind: others would have to
    /// wait for them as well.
    pub(super) fn settle_some(&self) {
        if self.trees.is_behind() {
            return self.wait_to_catch_up();
        }
        let Some((deferred, from)) = self.first_unsettled() else { return };
        let (changes, next) = deferred.piece(from);
        let applied = {
            let mut applier = self.applier.lock();
            let applied = self.trees.apply(changes);
            if applied.is_ok() && next.is_none() {
                applier.settled(&deferred);
            }
            applied
        };
        match (applied, next) {
            (Err(error), _) => self.fail(lost(&error)),
            (Ok(()), Some(next)) => {
                if let Some(first) = self.state.lock().unsettled.front_mut() {
                    first.next = next;
                }
            }
            (Ok(()), None) => self.settled_first(),
        }
    }

    fn first_unsettled(&self) -> Option<(Arc<Deferred>, usize)> {
        let state = self.state.lock();
        state.unsettled.front().map(|first| (first.deferred.clone(), first.next))
    }

    /// Lets go of what the first commit holds, and then answers those who wait for it.
    fn settled_first(&self) {
        let held = self.state.lock().unsettled.front_mut().and_then(|first| first.held.take());
        drop(held);
        let settled = {
            let mut state = self.state.lock();
            let settled = state.unsettled.pop_front();
            state.is_outdated = true;
            state.answer();
            settled
        };
        self.sync.notify_one();
        // Its changes are many, and are freed without the lock.
        drop(settled);
    }

    fn wait_to_catch_up(&self) {
        let mut state = self.state.lock();
        if state.queue.is_empty() && !state.unsettled.is_empty() {
            self.work.wait_for(&mut state, CATCH_UP_INTERVAL);
        }
    }

    /// Leaves what is not settled to the next start: it is stored, and its commits have been
    /// applied.
    pub(super) fn leave_unsettled(&self) {
        let left = {
            let mut state = self.state.lock();
            let left = std::mem::take(&mut state.unsettled);
            state.answer();
            left
        };
        drop(left);
    }
}
