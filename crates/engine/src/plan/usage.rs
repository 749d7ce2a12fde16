//! Which indexes plans make use of, for `$indexStats`.

use super::{Plan, Stage};
use crate::catalog::Index;
use std::sync::Arc;

impl Plan {
    /// What the profiler calls `planSummary`: the stages that read, and of what,
    /// each once.
    pub fn summary(&self) -> String {
        let mut leaves = Vec::new();
        self.root.leaves(&mut |stage| {
            let leaf = match stage.index() {
                Some(index) => {
                    format!("{} {}", stage.name(), value::text::document(index.key_pattern()))
                }
                None => stage.name().to_owned(),
            };
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        });
        leaves.join(", ")
    }

    /// Counts the plan as a use of what it reads.
    pub fn count_use(&self) {
        self.root.leaves(&mut |stage| match (stage.index(), stage, &self.collection) {
            (Some(index), _, _) => index.accesses.add(),
            (None, Stage::CollectionScan(_), Some(collection)) => {
                collection.state.activity.add_collection_scan();
            }
            _ => {}
        });
    }
}

impl Stage {
    fn leaves(&self, visit: &mut dyn FnMut(&Stage)) {
        match self.inputs() {
            [] => visit(self),
            inputs => inputs.iter().for_each(|input| input.leaves(visit)),
        }
    }

    /// The index that the stage itself reads.
    fn index(&self) -> Option<&Arc<Index>> {
        match self {
            Stage::IdRead(read) => Some(&read.index),
            Stage::IndexScan(scan) | Stage::CountScan(scan) => Some(&scan.index),
            Stage::DistinctScan { scan, .. } => Some(&scan.index),
            _ => None,
        }
    }
}
