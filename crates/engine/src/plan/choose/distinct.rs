//! Distinct values straight from an index, one entry a value.

use super::Scene;
use super::access::Access;
use crate::index::multikey;
use crate::plan::bounds::{Intervals, Leaves};
use crate::plan::{IndexScan, Purpose, Stage};
use std::sync::Arc;

/// A scan that skips from value to value, if an index answers the whole query.
pub fn stage(scene: &Scene<'_>) -> Option<Stage> {
    let Purpose::Distinct(path) = &scene.query.purpose else { return None };
    let leaves = Leaves::of(&scene.conjuncts).leaves;
    scene.indexes.iter().find_map(|index| {
        let access = if scene.conjuncts.is_empty() {
            whole(scene, index)?
        } else {
            Access::of(scene, index, &scene.conjuncts, &leaves)?
        };
        let Access { scan, filter, .. } = access;
        let field = scan.index.fields.iter().position(|field| field.path == *path)?;
        let complete = filter.is_none() && scan.filter.is_none() && scan.holds_values();
        let single = scan.bounds.iter().take(field).all(Intervals::is_point);
        (complete && single && all_values(&scan, field))
            .then_some(Stage::DistinctScan { scan, field })
    })
}

/// The whole index. A sparse index on the path alone lacks only documents that
/// have no value there.
fn whole(scene: &Scene<'_>, index: &Arc<crate::catalog::Index>) -> Option<Access> {
    let lenient = index.sparse && index.partial.is_none() && index.fields.len() == 1;
    if lenient {
        let scene = Scene {
            collection: scene.collection,
            query: scene.query,
            conjuncts: Vec::new(),
            indexes: Vec::new(),
            hinted: true,
        };
        return Access::whole(&scene, index, &[]);
    }
    Access::whole(scene, index, &[])
}

/// Whether the keys within the bounds have all values that a matching document
/// has: with arrays, only if nothing is bounded.
fn all_values(scan: &IndexScan, field: usize) -> bool {
    !multikey::field(&scan.index, scan.multikey, field) || scan.bounds.iter().all(Intervals::is_all)
}
