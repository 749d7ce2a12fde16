//! Write intents: who is about to change what.
//!
//! A transaction takes an intent on each document, unique key and capped
//! collection it is about to write, and holds it until its commit is settled. A document that it
//! inserts is nobody else's to see until its commit, and gets one only where that is settled in
//! pieces.
//! Intents are kept by number (a hash for unique keys), so that two things that
//! share a number merely wait for each other.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use command::Namespace;

use crate::storage::{CollectionId, IndexId, RecordId};

const SHARDS: usize = 64;

/// What an intent is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject(u128);

impl Subject {
    pub fn record(collection: CollectionId, record: RecordId) -> Subject {
        // The top bit distinguishes the two kinds.
        Subject(u128::from(collection.0) << 64 | u128::from(record.0))
    }

    pub fn unique_key(index: IndexId, key: &[u8]) -> Subject {
        Subject(xxh3_128_with_seed(key, u64::from(index.0)) | 1 << 127)
    }

    /// A name that is about to be given to a new collection.
    pub fn namespace(namespace: &Namespace) -> Subject {
        // No index has the number 0.
        Subject::unique_key(IndexId(0), namespace.to_string().as_bytes())
    }

    fn shard(self) -> usize {
        let mixed = (self.0 as u64 ^ (self.0 >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 58) as usize % SHARDS
    }
}

/// A transaction, as intents know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntentOwner(u64);

#[derive(Debug)]
pub struct Intents {
    shards: Vec<Mutex<FxHashMap<Subject, Holder>>>,
    owners: AtomicU64,
}

#[derive(Debug)]
struct Holder {
    owner: IntentOwner,
    /// Those in line; small where there are none, since most never have any.
    waiting: Option<Box<Line>>,
}

type Line = VecDeque<(IntentOwner, oneshot::Sender<Intent>)>;

/// A held intent; dropping it hands it to the next one in line.
#[derive(Debug)]
pub struct Intent {
    /// `None` once it has been handed on.
    intents: Option<Arc<Intents>>,
    subject: Subject,
}

pub enum Taken {
    New(Intent),
    /// This owner holds it already.
    Mine,
    /// Someone else holds it; the channel brings it when its turn has come.
    Busy(oneshot::Receiver<Intent>),
}

impl Intents {
    pub fn new() -> Arc<Intents> {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Arc::new(Intents { shards, owners: AtomicU64::new(1) })
    }

    pub fn owner(&self) -> IntentOwner {
        IntentOwner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    pub fn take(self: &Arc<Self>, owner: IntentOwner, subject: Subject) -> Taken {
        let mut shard = self.shards[subject.shard()].lock();
        match shard.entry(subject) {
            Entry::Vacant(free) => {
                free.insert(Holder { owner, waiting: None });
                Taken::New(Intent { intents: Some(self.clone()), subject })
            }
            Entry::Occupied(held) if held.get().owner == owner => Taken::Mine,
            Entry::Occupied(mut held) => {
                let (wake, wait) = oneshot::channel();
                held.get_mut().waiting.get_or_insert_default().push_back((owner, wake));
                Taken::Busy(wait)
            }
        }
    }

    /// The next in line becomes the holder, if there is one.
    fn next(&self, subject: Subject) -> Option<oneshot::Sender<Intent>> {
        let mut shard = self.shards[subject.shard()].lock();
        let Entry::Occupied(mut held) = shard.entry(subject) else { return None };
        match held.get_mut().waiting.as_mut().and_then(|waiting| waiting.pop_front()) {
            Some((owner, wake)) => {
                held.get_mut().owner = owner;
                Some(wake)
            }
            None => {
                held.remove();
                None
            }
        }
    }
}

impl Drop for Intent {
    fn drop(&mut self) {
        let subject = self.subject;
        let mut held = self.intents.take();
        while let Some(intents) = held.take() {
            let Some(wake) = intents.next(subject) else { return };
            // A waiter that has stopped waiting gives it back, for the next.
            if let Err(mut back) = wake.send(Intent { intents: Some(intents), subject }) {
                held = back.intents.take();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_exclusive_until_dropped() {
        let intents = Intents::new();
        let (a, b) = (intents.owner(), intents.owner());
        let subject = Subject::record(CollectionId(7), RecordId(1));
        let Taken::New(held) = intents.take(a, subject) else { panic!("free") };
        assert!(matches!(intents.take(a, subject), Taken::Mine));
        let Taken::Busy(mut wait) = intents.take(b, subject) else { panic!("held") };
        assert!(wait.try_recv().is_err());
        let Taken::Busy(gone) = intents.take(intents.owner(), subject) else { panic!("held") };
        drop(gone);
        drop(held);
        let mine = wait.try_recv().expect("handed over");
        assert!(matches!(intents.take(b, subject), Taken::Mine));
        drop(mine);
        assert!(matches!(intents.take(a, subject), Taken::New(_)));
    }
}
