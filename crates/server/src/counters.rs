//! What `serverStatus` counts. Each is a relaxed atomic: exact in the end, and
//! cheap on every command.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, amount: usize) {
        self.0.fetch_add(amount as u64, Relaxed);
    }

    pub fn subtract(&self, amount: usize) {
        self.0.fetch_sub(amount as u64, Relaxed);
    }

    /// As BSON has it.
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed) as i64
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Open now.
    pub connections: Counter,
    pub connections_created: Counter,
    pub connections_rejected: Counter,
    /// Commands that are running.
    pub active: Counter,
    pub exhaust_hello: Counter,
    pub awaiting_topology_changes: Counter,
    pub bytes_in: Counter,
    pub bytes_out: Counter,
    pub requests: Counter,
    /// Commands that failed by the client's doing.
    pub user_asserts: Counter,
    /// Panics caught.
    pub internal_asserts: Counter,
    pub operations: Operations,
}

#[derive(Debug, Default)]
pub(crate) struct Operations {
    pub insert: Counter,
    pub query: Counter,
    pub update: Counter,
    pub delete: Counter,
    pub getmore: Counter,
    pub command: Counter,
}

/// Holds a counter up for as long as it lives.
pub(crate) struct Held<'a>(&'a Counter);

impl<'a> Held<'a> {
    pub fn new(counter: &'a Counter) -> Held<'a> {
        counter.add(1);
        Held(counter)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.subtract(1);
    }
}
