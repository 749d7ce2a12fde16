//! Shutting the gates of collections for a change of definition.
//!
//! A gate is a fair lock: a waiting exclusive request blocks every later shared one. Plain
//! writes hold it shared for a moment, but a client's transaction may hold it for a minute.
//! So a change of definition waits in turns and withdraws its request between them, so that
//! plain writes go on. A client's transaction that would begin to write meanwhile is refused
//! (write conflict), or the change would starve. Changes of definition stand in a queue of
//! their own, so that a withdrawn request keeps its place: first come, first served.

use crate::catalog::Collection;
use crate::operation::held_up;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{MutexGuard, OwnedRwLockWriteGuard};
use tokio::time::{sleep, timeout};

/// For how long writers are kept waiting by one who waits for the gate, at a time.
const TURN_MAX: Duration = Duration::from_millis(100);
/// For how long writers go on between two turns.
const PAUSE: Duration = Duration::from_millis(100);

pub type Gate = OwnedRwLockWriteGuard<()>;

/// Takes the gates of collections, all of them together, in the order in which they stand.
pub async fn take(collections: &[Arc<Collection>]) -> Vec<Gate> {
    held_up(async {
        let _places = stand_in_queue(collections).await;
        let mut waiting = None;
        loop {
            match timeout(TURN_MAX, take_in_order(collections)).await {
                Ok(gates) => return gates,
                // Those that were taken are open again.
                Err(_) => {
                    waiting.get_or_insert_with(|| Waiting::begin(collections));
                    sleep(PAUSE).await;
                }
            }
        }
    })
    .await
}

/// Waits until no earlier change waits for any of these collections.
async fn stand_in_queue(collections: &[Arc<Collection>]) -> Vec<MutexGuard<'_, ()>> {
    let mut places = Vec::with_capacity(collections.len());
    for collection in collections {
        places.push(collection.state.definitions.lock().await);
    }
    places
}

async fn take_in_order(collections: &[Arc<Collection>]) -> Vec<Gate> {
    let mut gates = Vec::with_capacity(collections.len());
    for collection in collections {
        gates.push(collection.state.gate.clone().write_owned().await);
    }
    gates
}

/// Says of collections that a change of definition waits for them, until it is dropped.
struct Waiting<'a>(&'a [Arc<Collection>]);

impl Waiting<'_> {
    fn begin(collections: &[Arc<Collection>]) -> Waiting<'_> {
        for collection in collections {
            collection.state.definitions_waiting.fetch_add(1, Ordering::Relaxed);
        }
        Waiting(collections)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        for collection in self.0 {
            collection.state.definitions_waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
