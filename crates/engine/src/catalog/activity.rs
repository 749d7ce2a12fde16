//! How much a collection and its indexes have been used since the start.

use super::Latencies;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a command does to a collection, as `top` tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Query,
    GetMore,
    Insert,
    Update,
    Remove,
    Command,
}

impl Use {
    /// In the order of `top`, with the names it gives them.
    pub const ALL: [(Use, &'static str); 6] = [
        (Use::Query, "queries"),
        (Use::GetMore, "getmore"),
        (Use::Insert, "insert"),
        (Use::Update, "update"),
        (Use::Remove, "remove"),
        (Use::Command, "commands"),
    ];
}

/// The use of one collection. Figures are for people: they are counted without
/// keeping anyone waiting, and may be a command apart from each other.
#[derive(Debug, Default)]
pub struct Activity {
    pub reads: Tally,
    pub writes: Tally,
    pub read_latencies: Latencies,
    pub write_latencies: Latencies,
    uses: [Tally; Use::ALL.len()],
    collection_scans: AtomicU64,
}

/// How often, and how long altogether.
#[derive(Debug, Default)]
pub struct Tally {
    count: AtomicU64,
    microseconds: AtomicU64,
}

/// The use of one index.
#[derive(Debug)]
pub struct Accesses {
    count: AtomicU64,
    pub since: bson::DateTime,
}

impl Activity {
    pub fn add(&self, kind: Use, writes: bool, took: Duration) {
        let (lock, latencies) = match writes {
            true => (&self.writes, &self.write_latencies),
            false => (&self.reads, &self.read_latencies),
        };
        lock.add(took);
        latencies.add(took.as_micros() as u64);
        self.of(kind).add(took);
    }

    pub fn of(&self, kind: Use) -> &Tally {
        &self.uses[kind as usize]
    }

    pub fn add_collection_scan(&self) {
        self.collection_scans.fetch_add(1, Ordering::Relaxed);
    }

    pub fn collection_scans(&self) -> u64 {
        self.collection_scans.load(Ordering::Relaxed)
    }
}

impl Tally {
    fn add(&self, took: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub fn microseconds(&self) -> u64 {
        self.microseconds.load(Ordering::Relaxed)
    }
}

impl Accesses {
    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Default for Accesses {
    fn default() -> Accesses {
        Accesses { count: AtomicU64::new(0), since: bson::DateTime::now() }
    }
}
