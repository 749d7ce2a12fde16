//! What growth policies cost: the table of the pairs.

mod reads;
mod setting;
mod writes;

use crate::pair::{Bound, Measure, Pair, nothing};
use crate::workloads::{
    PUSH_ALONE, PUSH_NEWEST_1K, PUSH_NEWEST_1M, PUSH_OVERFLOW_1K, PUSH_OVERFLOW_1M, PUSH_TOGETHER,
    Workload,
};

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
    read("read_by_element", "find by an element's indexed field", 1.3, reads::BY_ELEMENT),
    read("read_count", "a count by it", 1.3, reads::COUNT),
    read("read_size", "$size of a long array", 1.3, reads::SIZE),
    read("read_slice", "the last 20 of a long array", 1.3, reads::SLICE),
    read("read_last", "the last of a long array", 1.3, reads::LAST),
    read("read_without", "a find that leaves a long array out", 1.3, reads::WITHOUT),
    read("read_whole", "5,000 elements whole", 1.3, reads::WHOLE),
    read("save_append", "a whole document saved with one more element", 2.0, reads::SAVE),
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

/// What it costs that long arrays have overflowed.
const fn read(
    name: &'static str,
    help: &'static str,
    at_most: f64,
    [base, other]: [Workload; 2],
) -> Pair {
    let bound = Bound::AtMost(at_most);
    Pair { name, help, measure: Measure::Latency, bound, base, other, switch: nothing }
}

/// What `growthStats` costs a collection without a policy.
const fn stats(name: &'static str, help: &'static str, base: Workload, other: Workload) -> Pair {
    Pair {
        switch: |site, other| Box::pin(setting::growth_stats(site, other)),
        ..cpu(name, help, 1.03, base, other)
    }
}
