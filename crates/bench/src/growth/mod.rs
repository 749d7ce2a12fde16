//! What growth policies cost: workloads that differ in one thing, compared in turns.
//!
//! A pair says what is compared and how far the two may be apart. Both sides have their data
//! at once and take turns in short rounds, now the one first and now the other.

mod compare;
mod setting;
mod writes;

pub(crate) use compare::compare;

use futures::future::BoxFuture;

use crate::Error;
use crate::site::Site;
use crate::workloads::{
    PUSH_ALONE, PUSH_NEWEST_1K, PUSH_NEWEST_1M, PUSH_OVERFLOW_1K, PUSH_OVERFLOW_1M, PUSH_TOGETHER,
    Workload,
};

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

pub static PAIRS: &[Pair] = &[
    cpu("policy_insert", "insert under a policy", 1.05, writes::INSERT, writes::INSERT_GUARDED),
    cpu("policy_inc", "$inc under a policy", 1.05, writes::INC, writes::INC_GUARDED),
    cpu("policy_push", "$push under a policy", 1.05, writes::PUSH, writes::PUSH_GUARDED),
    cpu("schema_insert", "insert under $jsonSchema", 1.05, writes::INSERT, writes::INSERT_SCHEMA),
    cpu("schema_inc", "$inc under $jsonSchema", 1.05, writes::INC, writes::INC_SCHEMA),
    cpu("schema_push", "$push under $jsonSchema", 1.05, writes::PUSH, writes::PUSH_SCHEMA),
    Pair {
        switch: |site, other| Box::pin(setting::elsewhere(site, other)),
        ..cpu("elsewhere_inc", "$inc beside policies", 1.02, writes::INC, writes::INC_BESIDE)
    },
    stats("stats_insert", "insert with growthStats", writes::INSERT, writes::INSERT_COUNTED),
    stats("stats_inc", "$inc with growthStats", writes::INC, writes::INC_COUNTED),
    stats("stats_push", "$push with growthStats", writes::PUSH, writes::PUSH_COUNTED),
    Pair {
        name: "push_one_document",
        help: "$push to one document by all clients, to that by one",
        measure: Measure::Rate,
        bound: Bound::AtLeast(0.5),
        base: PUSH_ALONE,
        other: PUSH_TOGETHER,
        switch: nothing,
    },
    Pair {
        name: "push_length",
        help: "$push at --elements elements, to that at 1,000",
        measure: Measure::Latency,
        bound: Bound::AtMost(1.2),
        base: PUSH_OVERFLOW_1K,
        other: PUSH_OVERFLOW_1M,
        switch: nothing,
    },
    Pair {
        name: "push_length_newest",
        help: "the same where documents keep the newest elements",
        measure: Measure::Latency,
        bound: Bound::AtMost(1.2),
        base: PUSH_NEWEST_1K,
        other: PUSH_NEWEST_1M,
        switch: nothing,
    },
];

const fn cpu(
    name: &'static str,
    help: &'static str,
    at_most: f64,
    base: Workload,
    other: Workload,
) -> Pair {
    let bound = Bound::AtMost(at_most);
    Pair { name, help, measure: Measure::Cpu, bound, base, other, switch: nothing }
}

/// What `growthStats` costs a collection without a policy.
const fn stats(name: &'static str, help: &'static str, base: Workload, other: Workload) -> Pair {
    Pair {
        switch: |site, other| Box::pin(setting::growth_stats(site, other)),
        ..cpu(name, help, 1.03, base, other)
    }
}

fn nothing(_: Site, _: bool) -> BoxFuture<'static, Result<(), Error>> {
    Box::pin(async { Ok(()) })
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

/// The pairs named, in the order of the table; all when none is named.
pub fn select(only: &[String]) -> Result<Vec<&'static Pair>, Error> {
    if let Some(name) = only.iter().find(|name| PAIRS.iter().all(|pair| pair.name != **name)) {
        return Err(Error::NoPair(name.clone()));
    }
    let named = |pair: &&Pair| only.is_empty() || only.iter().any(|name| name == pair.name);
    Ok(PAIRS.iter().filter(named).collect())
}
