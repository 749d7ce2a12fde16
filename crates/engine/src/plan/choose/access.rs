//! One index as a way to the documents.

use super::Scene;
use super::sort;
use crate::catalog::{Index, IndexKind};
use crate::index::multikey;
use crate::plan::bounds::{
    Assignment, Conjunct, Intervals, Leaf, Tightness, assign, implies_exists,
};
use crate::plan::implication::{Strings, implies};
use crate::plan::{IndexScan, Residual, Scan, Stage};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A scan of an index and what remains to be checked.
pub struct Access {
    pub scan: Arc<IndexScan>,
    /// What only the document can tell.
    pub filter: Option<Arc<Residual>>,
    /// Whether the rows come in the order asked for.
    pub order: AccessOrder,
}

#[derive(Debug, Clone)]
pub enum AccessOrder {
    Unsorted,
    Sorted,
    /// In order if the scan is split into these and their rows are merged.
    Merge(Vec<Arc<IndexScan>>),
}

impl Access {
    /// The best use of an index for some conjuncts, if it may and can be used.
    pub fn of(
        scene: &Scene<'_>,
        index: &Arc<Index>,
        conjuncts: &[Conjunct<'_>],
        leaves: &[Leaf<'_>],
    ) -> Option<Access> {
        if !scene.hinted && !holds_matches(scene, index, conjuncts, leaves) {
            return None;
        }
        let bits = index.multikey.bits();
        let assignment = assign(index, bits, scene.same_collation(index), leaves)?;
        Some(Access::new(scene, index, bits, conjuncts, assignment))
    }

    /// The whole index, if it holds every document; a hinted one in any case.
    pub fn whole(
        scene: &Scene<'_>,
        index: &Arc<Index>,
        conjuncts: &[Conjunct<'_>],
    ) -> Option<Access> {
        if index.fields.iter().any(|field| field.kind == IndexKind::Wildcard) {
            return None;
        }
        let complete = !index.sparse
            && index
                .partial
                .as_ref()
                .is_none_or(|partial| implies(conjuncts, &partial.root, strings(scene, index)));
        if !complete && !scene.hinted {
            return None;
        }
        let assignment = Assignment {
            bounds: index.fields.iter().map(|_| Intervals::all()).collect(),
            tightness: FxHashMap::default(),
            wildcard: None,
        };
        Some(Access::new(scene, index, index.multikey.bits(), conjuncts, assignment))
    }

    fn new(
        scene: &Scene<'_>,
        index: &Arc<Index>,
        multikey: u64,
        conjuncts: &[Conjunct<'_>],
        assignment: Assignment,
    ) -> Access {
        let Assignment { bounds, tightness, wildcard } = assignment;
        let multikey = multikey::of_scan(index, multikey, wildcard.as_ref());
        let mut scan = IndexScan {
            index: Arc::clone(index),
            scan: Scan::Forward,
            bounds,
            range: None,
            filter: None,
            multikey,
            wildcard,
        };
        let holds_values = scan.holds_values();
        let checked_by = |at: usize| match tightness.get(&at) {
            Some(Tightness::Key) if !holds_values => Tightness::Document,
            Some(tightness) => *tightness,
            None => Tightness::Document,
        };
        let pick = |wanted: Tightness| -> Option<Arc<Residual>> {
            let picked = conjuncts.iter().enumerate().filter(|(at, _)| checked_by(*at) == wanted);
            Residual::of(&scene.query.filter, picked.map(|(_, conjunct)| conjunct))
        };
        scan.filter = pick(Tightness::Key);
        let filter = pick(Tightness::Document);
        let fields = scene.query.sort.fields();
        let order = if scene.same_collation(index) {
            match sort::provided(&scan, fields) {
                Some(direction) => {
                    scan.scan = direction;
                    AccessOrder::Sorted
                }
                None => {
                    sort::split(&scan, fields).map_or(AccessOrder::Unsorted, AccessOrder::Merge)
                }
            }
        } else {
            AccessOrder::Unsorted
        };
        Access { scan: Arc::new(scan), filter, order }
    }

    pub fn is_sorted(&self) -> bool {
        !matches!(self.order, AccessOrder::Unsorted)
    }

    /// Whether the bounds exclude everything.
    pub fn is_contradiction(&self) -> bool {
        self.scan.bounds.iter().any(Intervals::is_none)
    }

    /// Whether it finds at most one document, so that nothing can do better.
    pub fn finds_one(&self) -> bool {
        self.scan.index.unique && self.scan.bounds.iter().all(Intervals::is_point)
    }

    /// Fields bounded to single values before any other, and whether a range
    /// follows: what a choice by rule looks at.
    fn selectivity(&self) -> (usize, usize, bool) {
        let bounds = &self.scan.bounds;
        let points = bounds.iter().take_while(|one| one.is_point()).count();
        let lists = bounds.iter().take_while(|one| one.are_points()).count();
        let range = bounds.get(lists).is_some_and(|one| !one.is_all());
        (points, lists, range)
    }

    /// The leading bounds, up to the last that narrows anything.
    fn narrowing(&self) -> &[Intervals] {
        let bounds = &self.scan.bounds;
        let end = bounds.iter().rposition(|one| !one.is_all()).map_or(0, |at| at + 1);
        &bounds[..end]
    }

    /// Whether the other cannot be better: the same leading fields, bounded at
    /// least as much, with no advantage in order or in what must be fetched.
    fn dominates(&self, other: &Access) -> bool {
        let (mine, theirs) = (self.narrowing(), other.narrowing());
        let same_fields = (self.scan.index.fields.iter())
            .zip(&other.scan.index.fields)
            .take(theirs.len())
            .all(|(a, b)| a.path == b.path && a.kind == b.kind);
        let size = |access: &Access| access.scan.index.fields.len();
        self.scan.wildcard == other.scan.wildcard
            && mine.len() >= theirs.len()
            && mine.iter().zip(theirs).all(|(a, b)| a == b)
            && same_fields
            && (self.is_sorted() || !other.is_sorted())
            && (mine.len() > theirs.len() || size(self) < size(other))
            && size(self) <= size(other).max(mine.len())
    }
}

/// Leaves out what another candidate is sure to beat; the best by rule first.
pub fn undominated(accesses: Vec<Access>) -> Vec<Access> {
    let mut kept: Vec<Access> = Vec::new();
    for access in accesses {
        if kept.iter().any(|other| other.dominates(&access)) {
            continue;
        }
        kept.retain(|other| !access.dominates(other));
        kept.push(access);
    }
    kept.sort_by_key(|access| {
        let (points, lists, range) = access.selectivity();
        let size = access.scan.index.fields.len();
        std::cmp::Reverse((points, lists, access.is_sorted(), range, std::cmp::Reverse(size)))
    });
    kept
}

/// Whether the index holds every document that can match.
fn holds_matches(
    scene: &Scene<'_>,
    index: &Index,
    conjuncts: &[Conjunct<'_>],
    leaves: &[Leaf<'_>],
) -> bool {
    if let Some(partial) = &index.partial
        && !implies(conjuncts, &partial.root, strings(scene, index))
    {
        return false;
    }
    !index.sparse
        || leaves.iter().any(|leaf| {
            index.fields.iter().any(|field| field.path == leaf.path)
                && implies_exists(leaf.predicate, leaf.path.len() == 1)
        })
}

fn strings<'a>(scene: &Scene<'_>, index: &'a Index) -> Strings<'a> {
    Strings { collator: index.collator.as_ref(), same_collation: scene.same_collation(index) }
}

/// The scan, and the fetch if something is left to check.
pub fn checked(access: &Access) -> Stage {
    let scan = Stage::IndexScan(Arc::clone(&access.scan));
    match &access.filter {
        None => scan,
        Some(filter) => Stage::Fetch { input: Box::new(scan), filter: Some(Arc::clone(filter)) },
    }
}
