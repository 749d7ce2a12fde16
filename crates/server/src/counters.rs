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
    /// Commands that read or write documents, running now.
    pub running_reads: Counter,
    pub running_writes: Counter,
    pub latencies: Latencies,
    pub documents: Documents,
    commands: Commands,
}

impl Counters {
    /// How often a command was run, by its name.
    pub fn command(&self, name: &str) -> Option<&CommandCount> {
        let at = self.commands.0.binary_search_by_key(&name, |count| count.name).ok()?;
        self.commands.0.get(at)
    }

    /// Every command, in the order of names.
    pub fn commands(&self) -> &[CommandCount] {
        &self.commands.0
    }
}

/// How long commands took.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    pub reads: Latency,
    pub writes: Latency,
    pub commands: Latency,
    pub transactions: Latency,
}

#[derive(Debug, Default)]
pub(crate) struct Latency {
    pub operations: Counter,
    pub microseconds: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct Documents {
    pub inserted: Counter,
    pub updated: Counter,
    pub deleted: Counter,
    pub returned: Counter,
}

#[derive(Debug)]
struct Commands(Box<[CommandCount]>);

#[derive(Debug)]
pub(crate) struct CommandCount {
    pub name: &'static str,
    pub total: Counter,
    pub failed: Counter,
}

impl Default for Commands {
    /// In the order of the table, which is alphabetical.
    fn default() -> Commands {
        let counts = command::table::COMMANDS.iter().map(|command| CommandCount {
            name: command.name,
            total: Counter::default(),
            failed: Counter::default(),
        });
        Commands(counts.collect())
    }
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
