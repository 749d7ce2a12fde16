//! From a query to the plans worth considering, and to the one that runs.

mod access;
mod by_element;
mod complete;
mod distinct;
mod finish;
mod hint;
mod id;
mod or;
mod range;
mod sort;
mod trial;

pub use trial::{Chosen, open};

use super::bounds::{Conjunct, Intervals, Leaves, NodePlace, conjuncts};
use super::{CollectionScan, Hint, IndexScan, Plan, Purpose, Query, Residual, Scan, Sort, Stage};
use crate::catalog::{Collection, Index};
use access::Access;
use error::Result;
use language::interrupt;
use language::query::Node;
use std::sync::Arc;

/// The most plans that are tried against each other.
const CANDIDATES_MAX: usize = 8;

/// Planning with one condition takes about as long as work on this many bytes.
const LEAF_BYTES: usize = 1024;

/// What the choice is made from.
struct Scene<'q> {
    collection: &'q Collection,
    query: &'q Query,
    conjuncts: Vec<Conjunct<'q>>,
    /// Those that may be used: ready, and not hidden.
    indexes: Vec<&'q Arc<Index>>,
    /// Whether the indexes are the one that was hinted.
    hinted: bool,
}

/// The plans worth considering, the best by rule first; at least one.
pub fn choose(collection: Option<&Arc<Collection>>, query: &Arc<Query>) -> Result<Vec<Plan>> {
    let plan = |root: Stage| Plan {
        query: Arc::clone(query),
        collection: collection.map(Arc::clone),
        root,
    };
    let Some(of) = collection else { return Ok(vec![plan(finish::count(query, Stage::Empty))]) };
    if !complete::comes_in_parts(query)
        && let Some(read) = id::read(of, query)
    {
        return Ok(vec![plan(read)]);
    }
    let stages = match &query.paged {
        Some(paged) => complete::stages(of, query, paged)?,
        None => stages(of, query)?,
    };
    Ok(stages.into_iter().map(plan).collect())
}

fn stages(collection: &Collection, query: &Query) -> Result<Vec<Stage>> {
    stages_for(collection, query, conjuncts(&query.filter.root, &NodePlace::default()))
}

/// The same for some conditions of the query's filter: the plans leave out the others.
fn stages_for(
    collection: &Collection,
    query: &Query,
    conjuncts: Vec<Conjunct<'_>>,
) -> Result<Vec<Stage>> {
    if conjuncts.iter().any(|conjunct| matches!(conjunct.node, Node::False)) {
        return Ok(vec![finish::count(query, Stage::Empty)]);
    }
    let hinted = hint::index(collection, query)?;
    if query.min.is_some() || query.max.is_some() {
        return range::stage(query, &conjuncts, hinted).map(|stage| vec![stage]);
    }
    if query.purpose == Purpose::Count && conjuncts.is_empty() && query.hint.is_none() {
        return Ok(vec![Stage::RecordCount]);
    }
    let scene = Scene {
        collection,
        query,
        conjuncts,
        hinted: hinted.is_some(),
        indexes: match hinted {
            Some(index) => vec![index],
            None => {
                collection.indexes.iter().filter(|index| index.ready && !index.hidden).collect()
            }
        },
    };
    if let Some(scan) = natural(query) {
        return Ok(vec![scene.collection_scan(scan)]);
    }
    if let Some(stage) = distinct::stage(&scene) {
        return Ok(vec![stage]);
    }
    scene.accesses()
}

/// The direction of a scan in natural order, if that is asked for.
fn natural(query: &Query) -> Option<Scan> {
    match (&query.hint, &query.sort) {
        (_, Sort::Natural(scan)) => Some(*scan),
        (Some(Hint::Natural(scan)), _) => Some(*scan),
        _ if query.after.is_some() => Some(Scan::Forward),
        _ => None,
    }
}

impl Scene<'_> {
    fn accesses(&self) -> Result<Vec<Stage>> {
        let leaves = Leaves::of(&self.conjuncts).leaves;
        let mut accesses = Vec::new();
        for index in &self.indexes {
            // Each looks at every condition.
            interrupt::check_sized(leaves.len() * LEAF_BYTES)?;
            accesses.extend(Access::of(self, index, &self.conjuncts, &leaves));
        }
        if accesses.iter().any(|access| access.is_contradiction()) {
            return Ok(vec![finish::count(self.query, Stage::Empty)]);
        }
        if let Some(best) = accesses.iter().position(Access::finds_one) {
            accesses = vec![accesses.swap_remove(best)];
        }
        let mut stages: Vec<Stage> = access::undominated(accesses)
            .into_iter()
            .map(|access| finish::access(self.query, access))
            .collect();
        stages.extend(or::stages(self)?);
        if !self.query.sort.fields().is_empty() {
            stages.extend(self.whole_scans(&stages));
        }
        if stages.is_empty() {
            stages.push(match self.indexes.first() {
                Some(index) if self.hinted => self.hinted_scan(index)?,
                _ => self.collection_scan(Scan::Forward),
            });
        }
        stages.truncate(CANDIDATES_MAX);
        Ok(stages)
    }

    /// Scans of whole indexes that give the order asked for.
    fn whole_scans(&self, so_far: &[Stage]) -> Vec<Stage> {
        let used = |index: &Index| {
            so_far.iter().any(|stage| {
                !stage.any(&|stage| matches!(stage, Stage::Sort { .. }))
                    && stage.any(&|stage| {
                        matches!(stage, Stage::IndexScan(scan) if scan.index.id == index.id)
                    })
            })
        };
        self.indexes
            .iter()
            .filter(|index| !used(index))
            .filter_map(|index| Access::whole(self, index, &self.conjuncts))
            .filter(Access::is_sorted)
            .map(|access| finish::access(self.query, access))
            .collect()
    }

    /// The hinted index from end to end, where no predicate can use it.
    fn hinted_scan(&self, index: &Arc<Index>) -> Result<Stage> {
        let access = Access::whole(self, index, &self.conjuncts).ok_or_else(hint::unusable)?;
        Ok(finish::access(self.query, access))
    }

    fn collection_scan(&self, scan: Scan) -> Stage {
        if let (true, Some(index)) = (self.collection.is_clustered(), self.collection.id_index()) {
            return self.clustered_scan(index, scan);
        }
        let stage = Stage::CollectionScan(Arc::new(CollectionScan {
            scan,
            after: self.query.after,
            filter: Residual::of(&self.query.filter, &self.conjuncts),
        }));
        finish::documents(self.query, stage, false)
    }

    /// The natural order of a clustered collection is that of its `_id` index.
    fn clustered_scan(&self, index: &Arc<Index>, scan: Scan) -> Stage {
        let stage = Stage::IndexScan(Arc::new(IndexScan {
            index: Arc::clone(index),
            scan,
            bounds: vec![Intervals::all()],
            range: None,
            filter: None,
            multikey: 0,
            wildcard: None,
        }));
        let filter = Residual::of(&self.query.filter, &self.conjuncts);
        let stage = Stage::Fetch { input: Box::new(stage), filter };
        finish::documents(self.query, stage, false)
    }

    fn same_collation(&self, index: &Index) -> bool {
        match (&index.collator, &self.query.collator) {
            (None, None) => true,
            (Some(a), Some(b)) => a.document().as_bytes() == b.document().as_bytes(),
            _ => false,
        }
    }
}
