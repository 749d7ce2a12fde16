//! Workloads that differ in one thing, compared in turns.
//!
//! A pair says what is compared and how far the two may be apart. Both sides have their data
//! at once and take turns in short rounds, now the one first and now the other.

mod compare;

pub(crate) use compare::compare;

use futures::future::BoxFuture;

use crate::Error;
use crate::growth::PAIRS;
use crate::site::Site;
use crate::workloads::Workload;

pub struct Pair {
    pub name: &'static str,
    pub help: &'static str,
    pub measure: Measure,
    pub bound: Bound,
    pub(crate) base: Workload,
    pub(crate) other: Workload,
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

/// The pairs named, in the order of the table; all when none is named.
pub fn select(only: &[String]) -> Result<Vec<&'static Pair>, Error> {
    if let Some(name) = only.iter().find(|name| PAIRS.iter().all(|pair| pair.name != **name)) {
        return Err(Error::NoPair(name.clone()));
    }
    let named = |pair: &&Pair| only.is_empty() || only.iter().any(|name| name == pair.name);
    Ok(PAIRS.iter().filter(named).collect())
}
