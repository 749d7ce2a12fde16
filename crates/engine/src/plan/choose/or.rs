//! `$or` with an index for every branch.

use super::access::{self, Access, AccessOrder};
use super::{CANDIDATES_MAX, Scene, finish};
use crate::plan::bounds::{Conjunct, Leaves, conjuncts};
use crate::plan::{Purpose, Residual, Stage};
use error::Result;
use language::interrupt;
use language::query::Node;
use std::sync::Arc;

/// How many `$or`s are looked at: each is planned together with all other conditions.
const DISJUNCTIONS_MAX: usize = CANDIDATES_MAX;

/// How many conditions the branches of an `$or` are planned with in all. Beyond, those beside
/// it are checked on the documents and do not narrow the branches.
const CONDITIONS_MAX: usize = 10_000;

/// A plan for each `$or` among the conjuncts that indexes can answer.
pub fn stages(scene: &Scene<'_>) -> Result<Vec<Stage>> {
    let is_or = |at: &usize| matches!(scene.conjuncts[*at].node, Node::Or(_));
    let mut stages = Vec::new();
    for at in (0..scene.conjuncts.len()).filter(is_or).take(DISJUNCTIONS_MAX) {
        stages.extend(stage(scene, at)?);
    }
    Ok(stages)
}

fn stage(scene: &Scene<'_>, at: usize) -> Result<Option<Stage>> {
    let Conjunct { node: Node::Or(branches), place } = &scene.conjuncts[at] else {
        return Ok(None);
    };
    let mut others: Vec<Conjunct<'_>> = scene
        .conjuncts
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, conjunct)| conjunct.clone())
        .collect();
    let mut apart = None;
    if branches.len().saturating_mul(others.len()) > CONDITIONS_MAX {
        apart = Residual::of(&scene.query.filter, &std::mem::take(&mut others));
    }
    let mut accesses = Vec::with_capacity(branches.len());
    for (number, branch) in branches.iter().enumerate() {
        interrupt::check()?;
        // The conditions beside the `$or` hold in every branch and may narrow it.
        let mut parts = conjuncts(branch, &place.child(number));
        if parts.iter().any(|part| matches!(part.node, Node::False)) {
            continue;
        }
        parts.extend_from_slice(&others);
        let leaves = Leaves::of(&parts).leaves;
        let found =
            scene.indexes.iter().filter_map(|index| Access::of(scene, index, &parts, &leaves));
        let Some(best) = access::undominated(found.collect()).into_iter().next() else {
            return Ok(None);
        };
        accesses.push(best);
    }
    Ok(Some(joined(scene, &accesses, apart)))
}

/// The rows of all branches; `apart` is what is left to check on the documents.
fn joined(scene: &Scene<'_>, accesses: &[Access], apart: Option<Arc<Residual>>) -> Stage {
    let query = scene.query;
    let inputs = || accesses.iter().map(access::checked).collect::<Vec<Stage>>();
    let fields = query.sort.fields();
    let ordered = !fields.is_empty()
        && accesses.iter().all(|access| matches!(access.order, AccessOrder::Sorted));
    let holds_order = accesses.iter().all(|access| {
        fields.iter().all(|field| access.scan.index.fields.iter().any(|of| of.path == field.path))
    });
    let mergeable = ordered && holds_order;
    let stage = if mergeable {
        Stage::Merge { inputs: inputs(), fields: fields.into() }
    } else {
        Stage::Or { inputs: inputs() }
    };
    if query.purpose == Purpose::Count && apart.is_none() {
        return finish::count(query, stage);
    }
    let fetch = Stage::Fetch { input: Box::new(stage), filter: apart };
    finish::documents(query, fetch, mergeable || fields.is_empty())
}
