//! Workloads that differ in one thing, compared in turns.
//!
//! A pair says what is compared and how far the two may be apart. Both sides have their data
//! at once and take turns in short rounds, now the one first and now the other.

mod compare;

pub(crate) use compare::compare;

use futures::future::BoxFuture;

use crate::Error;
use crate::site::Site;
use crate::workloads::Workload;
use crate::{growth, maintained};

pub struct Pair {
    pub name: &'static str,
    pub help: &'static str,
    pub measure: Measure,
    pub bound: Bound,
    pub(crate) base: Workload,
    pub(crate) other: Workload,
    /// How many times the clients of other workloads work at once.
    pub(crate) crowd: usize,
    /// Run before each round, for what is not in the data: whether the other side is next.
    pub(crate) switch: fn(Site, bool) -> BoxFuture<'static, Result<(), Error>>,
}

/// What of the two sides is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// CPU time of the server for an operation; compared round by round.
    Cpu,
    /// The median latency.
    Latency,
    /// Operations a second.
    Rate,
    /// What an operation adds to the journal before compression.
    Journal,
    /// The 99th percentile of the other's latency, against its own median.
    Tail,
}

/// How far the other side may be from the base, as a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Measure {
    pub fn name(self) -> &'static str {
        match self {
            Measure::Cpu => "CPU µs",
            Measure::Latency => "p50 µs",
            Measure::Rate => "rate/s",
            Measure::Journal => "journal B",
            Measure::Tail => "p99 of p50 µs",
        }
    }
}

impl Bound {
    pub fn holds(self, ratio: f64) -> bool {
        match self {
            Bound::AtMost(most) => ratio <= most,
            Bound::AtLeast(least) => ratio >= least,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::AtMost(most) => write!(f, "≤ {most:.2}"),
            Bound::AtLeast(least) => write!(f, "≥ {least:.2}"),
        }
    }
}

/// Changes nothing between the rounds.
pub(crate) fn nothing(_: Site, _: bool) -> BoxFuture<'static, Result<(), Error>> {
    Box::pin(async { Ok(()) })
}

/// All pairs of all tables.
pub fn all() -> impl Iterator<Item = &'static Pair> {
    growth::PAIRS.iter().chain(maintained::PAIRS)
}

/// The pairs of a table that are named, in its order; all when none is named.
pub fn select(pairs: &'static [Pair], only: &[String]) -> Result<Vec<&'static Pair>, Error> {
    if let Some(name) = only.iter().find(|name| pairs.iter().all(|pair| pair.name != **name)) {
        let names = pairs.iter().map(|pair| pair.name).collect();
        return Err(Error::NoPair(name.clone(), names));
    }
    let named = |pair: &&Pair| only.is_empty() || only.iter().any(|name| name == pair.name);
    Ok(pairs.iter().filter(named).collect())
}
