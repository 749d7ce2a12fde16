//! The detectors: one file and one row each.
//!
//! A detector looks at one collection (its [`Subject`]) when its documents have been
//! counted, or at the deployment as a whole when all collections have been looked at. It
//! says what it needs; what nobody needs is not gathered, and where something needed is
//! missing the report says so.

mod archive_candidate;
mod bloated_document;
mod bucket_candidate;
mod case_collision;
mod collection_sprawl;
mod dynamic_fields;
mod massive_document;
mod missing_index;
mod multikey_bloat;
mod normalised;
mod redundant_index;
mod shard_key;
mod unbounded_array;
mod uncomputed;
mod unguarded_growth;
mod unused_index;

pub use collection_sprawl::{Family, all_families};

use super::Thresholds;
use super::census::{ArrayCensus, Census};
use super::facts::{Collection, Kind};
use super::outline::Outline;
use super::target::{Limits, Target};
use crate::report::Finding;
use rustc_hash::FxHashSet;

pub struct Detector {
    /// What findings call it.
    pub name: &'static str,
    /// What it looks for.
    pub rule: &'static str,
    pub needs: &'static [Need],
    pub harm: Harm,
    pub look: Look,
}

/// What becomes of what a detector finds, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Writes will fail.
    Fails,
    /// Something is taken for something else.
    Misleads,
    /// It becomes slower and slower.
    Slows,
    /// It costs more than it must.
    Wastes,
}

/// What a detector works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// The census of the collection's documents.
    Documents,
    /// The list of collections.
    Collections,
    Indexes,
    /// How often each index is used.
    IndexUse,
    /// What clients ask: the profiler's entries or the query statistics.
    Operations,
    /// The shard keys.
    Sharding,
}

#[derive(Clone, Copy)]
pub enum Look {
    Collection(fn(&Subject<'_>) -> Vec<Finding>),
    Deployment(fn(&Deployment<'_>) -> Vec<Finding>),
}

/// One collection, and by what it is judged.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub collection: &'a Collection,
    pub census: &'a Census,
    pub target: Target,
    pub limits: &'a Limits,
    pub thresholds: &'a Thresholds,
    /// The names of all collections of the database.
    pub names: &'a FxHashSet<String>,
    /// In milliseconds since 1970.
    pub now: i64,
}

/// What findings of one growing array have in common.
pub fn array_cause(path: &str) -> String {
    format!("array {path}")
}

impl<'a> Subject<'a> {
    /// Judges each array of a collection that grows.
    fn growing_arrays(
        &self,
        judge: impl Fn(&Subject<'a>, &str, &ArrayCensus) -> Option<Finding>,
    ) -> Vec<Finding> {
        if !self.collection.kind.grows() || self.is_bucketed() {
            return Vec::new();
        }
        let arrays = self.census.arrays().into_iter();
        arrays.filter_map(|(path, array)| judge(self, &path, array)).collect()
    }
}

impl Subject<'_> {
    /// Whether its documents are buckets of a span of time each, which end with the span.
    fn is_bucketed(&self) -> bool {
        let tree = &self.census.tree;
        let dated = tree.find("_id.from").is_some_and(|node| node.dates.is_some());
        dated && tree.find("count").is_some()
    }

    /// A name that no collection of the database has.
    pub fn free_name(&self, wanted: &str) -> String {
        free_name(self.names, wanted)
    }
}

/// A name that is not among these: the one that is wanted, or with a number behind it.
pub fn free_name(names: &FxHashSet<String>, wanted: &str) -> String {
    let numbered = (2..).map(|number| format!("{wanted}{number}"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(numbered);
    candidates.find(|name| !names.contains(name)).unwrap_or_else(|| wanted.to_owned())
}

/// Everything, and by what it is judged.
#[derive(Debug, Clone, Copy)]
pub struct Deployment<'a> {
    pub collections: &'a [Outline],
    pub target: Target,
    pub limits: &'a Limits,
    pub thresholds: &'a Thresholds,
}

/// The rows, by name.
pub const DETECTORS: &[Detector] = &[
    Detector {
        name: "archive_candidate",
        rule: "old documents that no query reads any more",
        needs: &[Need::Documents, Need::Operations],
        harm: Harm::Wastes,
        look: Look::Collection(archive_candidate::look),
    },
    Detector {
        name: "bloated_document",
        rule: "large fields that no query uses",
        needs: &[Need::Documents, Need::Operations],
        harm: Harm::Slows,
        look: Look::Collection(bloated_document::look),
    },
    Detector {
        name: "bucket_candidate",
        rule: "a time series that is stored one document a reading",
        needs: &[Need::Documents],
        harm: Harm::Wastes,
        look: Look::Collection(bucket_candidate::look),
    },
    Detector {
        name: "case_collision",
        rule: "string ids that are equal but for case",
        needs: &[Need::Documents, Need::Indexes, Need::Operations],
        harm: Harm::Misleads,
        look: Look::Collection(case_collision::look),
    },
    Detector {
        name: "collection_sprawl",
        rule: "collections of one shape whose names differ by an identifier",
        needs: &[Need::Collections, Need::Documents],
        harm: Harm::Fails,
        look: Look::Deployment(collection_sprawl::look),
    },
    Detector {
        name: "dynamic_fields",
        rule: "dates, ids and numbers in the place of field names",
        needs: &[Need::Documents],
        harm: Harm::Slows,
        look: Look::Collection(dynamic_fields::look),
    },
    Detector {
        name: "massive_document",
        rule: "documents that near the limit, and the fields that make them large",
        needs: &[Need::Documents],
        harm: Harm::Fails,
        look: Look::Collection(massive_document::look),
    },
    Detector {
        name: "missing_index",
        rule: "queries that go through documents which an index would spare them",
        needs: &[Need::Indexes, Need::Operations],
        harm: Harm::Slows,
        look: Look::Collection(missing_index::look),
    },
    Detector {
        name: "multikey_bloat",
        rule: "indexes over arrays that multiply their entries",
        needs: &[Need::Documents, Need::Indexes],
        harm: Harm::Slows,
        look: Look::Collection(multikey_bloat::look),
    },
    Detector {
        name: "normalised",
        rule: "references that are followed by a $lookup in most reads",
        needs: &[Need::Collections, Need::Operations],
        harm: Harm::Slows,
        look: Look::Deployment(normalised::look),
    },
    Detector {
        name: "redundant_index",
        rule: "indexes that are the beginning of another one",
        needs: &[Need::Indexes],
        harm: Harm::Wastes,
        look: Look::Collection(redundant_index::look),
    },
    Detector {
        name: "shard_key",
        rule: "shard keys that only grow, have few values, or are not in the queries",
        needs: &[Need::Documents, Need::Sharding],
        harm: Harm::Slows,
        look: Look::Collection(shard_key::look),
    },
    Detector {
        name: "unbounded_array",
        rule: "an array that grows without a bound, until its document is full",
        needs: &[Need::Documents],
        harm: Harm::Fails,
        look: Look::Collection(unbounded_array::look),
    },
    Detector {
        name: "uncomputed",
        rule: "counts and sums that are computed again each time",
        needs: &[Need::Operations],
        harm: Harm::Slows,
        look: Look::Collection(uncomputed::look),
    },
    Detector {
        name: "unguarded_growth",
        rule: "a growing array with neither a validator nor a policy",
        needs: &[Need::Documents],
        harm: Harm::Fails,
        look: Look::Collection(unguarded_growth::look),
    },
    Detector {
        name: "unused_index",
        rule: "indexes that no read uses, or more of them than is advised",
        needs: &[Need::Indexes, Need::IndexUse],
        harm: Harm::Wastes,
        look: Look::Collection(unused_index::look),
    },
];

/// What all detectors together need.
pub fn needs() -> FxHashSet<Need> {
    DETECTORS.iter().flat_map(|detector| detector.needs).copied().collect()
}

/// What the detectors of one collection find. Pages are Freeboard's own affair.
pub fn look_at_collection(subject: &Subject<'_>) -> Vec<Finding> {
    if subject.collection.kind == Kind::Pages {
        return Vec::new();
    }
    run(|look| match look {
        Look::Collection(look) => look(subject),
        Look::Deployment(_) => Vec::new(),
    })
}

/// What the detectors of the whole find.
pub fn look_at_deployment(deployment: &Deployment<'_>) -> Vec<Finding> {
    run(|look| match look {
        Look::Collection(_) => Vec::new(),
        Look::Deployment(look) => look(deployment),
    })
}

fn run(look: impl Fn(Look) -> Vec<Finding>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for detector in DETECTORS {
        for mut finding in look(detector.look) {
            detector.name.clone_into(&mut finding.detector);
            findings.push(finding);
        }
    }
    findings
}

#[cfg(test)]
pub(crate) mod fixture;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_named_once() {
        assert!(DETECTORS.is_sorted_by(|a, b| a.name < b.name));
    }
}
