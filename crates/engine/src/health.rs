//! Health checks: the store is looked at once a second, so that a question is answered at
//! once, from the last look.

use crate::Engine;
use crate::storage::{CommitProgress, Store};
use error::Result;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at the store.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A look that takes longer than this is a store that does not answer.
pub const LOOK_TIME_MAX: Duration = Duration::from_secs(10);

/// A write that was taken must be on the disk within this time.
pub const SYNC_TIME_MAX: Duration = Duration::from_secs(10);

/// What the last look found.
#[derive(Debug)]
pub struct Health(Mutex<State>);

#[derive(Debug)]
struct State {
    /// When the last look ended.
    looked: Instant,
    /// What the last look found wrong.
    fault: Option<String>,
    /// Why writes are refused that take room.
    low: Option<String>,
    /// How far the store was synced, and since when it has not come further while there was
    /// something to sync.
    behind: Option<(u64, Instant)>,
}

impl Default for Health {
    fn default() -> Health {
        let looked = Instant::now();
        Health(Mutex::new(State { looked, fault: None, low: None, behind: None }))
    }
}

impl Health {
    /// What is wrong with the store, if anything.
    pub fn fault(&self) -> Option<String> {
        let state = self.0.lock();
        let age = state.looked.elapsed();
        if age > LOOK_TIME_MAX + LOOK_INTERVAL {
            return Some(format!("the store has not answered for {} s", age.as_secs()));
        }
        state.fault.clone()
    }

    /// Why the store refuses writes that take room, if it does.
    pub fn low(&self) -> Option<String> {
        self.0.lock().low.clone()
    }

    /// Looks at the store. It may wait for the disk.
    fn look(&self, store: &Store) {
        store.check_health();
        let fault = store.failure().borrow().as_ref().map(|error| error.message().to_owned());
        let fault = fault.or_else(|| store.check_read().err().map(|error| error.to_string()));
        let low = store.space().check().err().map(|error| error.message().to_owned());
        let fault = fault.or_else(|| self.behind(&store.progress()));
        let mut state = self.0.lock();
        state.looked = Instant::now();
        state.fault = fault;
        state.low = low;
    }

    /// Whether writes wait for too long to be synced.
    fn behind(&self, progress: &CommitProgress) -> Option<String> {
        if !progress.alive {
            return Some("a thread that writes the store has ended; the log says why".to_owned());
        }
        let mut state = self.0.lock();
        if progress.submitted <= progress.synced {
            state.behind = None;
            return None;
        }
        let (synced, since) = *state.behind.get_or_insert((progress.synced, Instant::now()));
        if synced != progress.synced {
            state.behind = Some((progress.synced, Instant::now()));
            return None;
        }
        let age = since.elapsed();
        (age > SYNC_TIME_MAX)
            .then(|| format!("writes have been waiting for the disk for {} s", age.as_secs()))
    }
}

impl Engine {
    /// Looks at the store now and then, until the engine closes.
    pub(crate) async fn watch_storage(self: Arc<Self>) {
        loop {
            let engine = self.clone();
            let look = tokio::task::spawn_blocking(move || engine.health.look(&engine.store));
            if look.await.is_err() {
                return;
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Whether the store reads, and writes what it has taken.
    pub fn health(&self) -> Result<(), String> {
        let failure = self.store.failure().borrow().as_ref().map(|it| it.message().to_owned());
        failure.or_else(|| self.health.fault()).map_or(Ok(()), Err)
    }

    /// Whether writes are taken that take room.
    pub fn readiness(&self) -> Result<(), String> {
        self.health.low().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_are_not_synced_in_time_are_a_fault() {
        let health = Health::default();
        let at = |submitted, synced| CommitProgress { submitted, synced, alive: true };
        let long_ago = || Instant::now().checked_sub(SYNC_TIME_MAX * 2).unwrap();
        assert_eq!(health.behind(&at(3, 3)), None);
        assert_eq!(health.behind(&at(5, 3)), None, "it has just begun to wait");
        health.0.lock().behind = Some((3, long_ago()));
        assert!(health.behind(&at(9, 3)).is_some_and(|why| why.contains("waiting")));
        assert_eq!(health.behind(&at(9, 4)), None, "it goes on");
        health.0.lock().behind = Some((4, long_ago()));
        assert_eq!(health.behind(&at(9, 9)), None);
        assert!(health.behind(&CommitProgress { alive: false, ..at(9, 9) }).is_some());
    }

    #[test]
    fn a_look_that_does_not_end_is_a_fault() {
        let health = Health::default();
        assert_eq!(health.fault(), None);
        health.0.lock().looked = Instant::now().checked_sub(LOOK_TIME_MAX * 2).unwrap();
        assert!(health.fault().is_some_and(|why| why.contains("not answered")));
    }
}
