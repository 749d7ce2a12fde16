//! What fields that the server keeps up to date cost where children are written, and what they
//! save where they are read: the table of the pairs.

mod build;
mod long;
mod read;
mod setting;
mod spread;

use crate::pair::{Bound, Measure, Pair, nothing};
use crate::workloads::Workload;

/// How many times the clients of other workloads insert at once where they crowd.
pub const CROWD: usize = 4;

pub static PAIRS: &[Pair] = &[
    pair(
        "kept_insert",
        "durable insert of a child with count, average and top 3 kept, to that without",
        Measure::Rate,
        Bound::AtLeast(0.5),
        spread::PLAIN,
        spread::KEPT,
    ),
    Pair {
        crowd: CROWD,
        ..pair(
            "one_parent",
            "four times the clients on one parent, to those on 10,000",
            Measure::Rate,
            Bound::AtLeast(0.5),
            spread::KEPT,
            spread::ONE_PARENT,
        )
    },
    Pair {
        crowd: CROWD,
        ..pair(
            "one_parent_tail",
            "the longest of them, to the median",
            Measure::Tail,
            Bound::AtMost(10.0),
            spread::KEPT,
            spread::ONE_PARENT,
        )
    },
    long("long_insert", "insert at --elements children of a parent, to 1,000", long::INSERT),
    long("long_delete_best", "delete of the best of them", long::DELETE_BEST),
    long("long_delete_least", "delete of the least of them", long::DELETE_LEAST),
    pair(
        "batch_insert",
        "10,000 children of 100 parents at once: the journal, to that with the index alone",
        Measure::Journal,
        // Each parent is written once: 100 of them beside 10,000 children.
        Bound::AtMost(1.25),
        spread::BATCH_PLAIN,
        spread::BATCH_KEPT,
    ),
    pair(
        "build",
        "building over --elements children, to a bare scan of them",
        Measure::Rate,
        Bound::AtLeast(0.5),
        build::SCAN,
        build::BUILD,
    ),
    pair(
        "read_kept",
        "a read of the kept fields, to the aggregation that they replace",
        Measure::Latency,
        Bound::AtMost(1.0),
        read::COMPUTED,
        read::KEPT,
    ),
];

const fn pair(
    name: &'static str,
    help: &'static str,
    measure: Measure,
    bound: Bound,
    base: Workload,
    other: Workload,
) -> Pair {
    Pair { name, help, measure, bound, base, other, crowd: 1, switch: nothing }
}

/// What it costs that a parent has very many children.
const fn long(name: &'static str, help: &'static str, [base, other]: [Workload; 2]) -> Pair {
    pair(name, help, Measure::Latency, Bound::AtMost(1.3), base, other)
}
