//! What stages count, for `explain` and the profiler.

use std::time::Duration;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    pub works: u64,
    pub advanced: u64,
    /// Units of work that produced nothing.
    pub pending: u64,
    pub done: bool,
    pub keys_examined: u64,
    pub documents_examined: u64,
    pub seeks: u64,
    pub repeats_tested: u64,
    pub repeats_dropped: u64,
    /// The most a sort held at once.
    pub bytes_held: u64,
    /// Runs that a sort has written to temporary files, and what is in them.
    pub spills: u64,
    pub spilled_bytes: u64,
    pub spilled_rows: u64,
    pub counted: u64,
    pub skipped: u64,
    /// Measured only for `explain`; includes the stages below.
    pub time: Duration,
}

/// The stats of a stage and of those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsTree {
    pub stats: Stats,
    pub inputs: Vec<StatsTree>,
}

impl StatsTree {
    fn sum(&self, of: &dyn Fn(&Stats) -> u64) -> u64 {
        of(&self.stats) + self.inputs.iter().map(|input| input.sum(of)).sum::<u64>()
    }

    pub fn keys_examined(&self) -> u64 {
        self.sum(&|stats| stats.keys_examined)
    }

    pub fn documents_examined(&self) -> u64 {
        self.sum(&|stats| stats.documents_examined)
    }
}
