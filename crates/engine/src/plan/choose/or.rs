//! `$or` with an index for every branch.

use super::Scene;
use super::access::{self, Access, Order};
use super::finish;
use crate::plan::bounds::{Conjunct, Leaves, conjuncts};
use crate::plan::{Purpose, Residual, Stage};
use language::query::Node;
use std::sync::Arc;

/// A plan for each `$or` among the conjuncts that indexes can answer.
pub fn stages(scene: &Scene<'_>) -> Vec<Stage> {
    (0..scene.conjuncts.len()).filter_map(|at| stage(scene, at)).collect()
}

fn stage(scene: &Scene<'_>, at: usize) -> Option<Stage> {
    let Conjunct { node: Node::Or(branches), place } = &scene.conjuncts[at] else { return None };
    let others: Vec<Conjunct<'_>> = scene
        .conjuncts
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, conjunct)| conjunct.clone())
        .collect();
    let mut accesses = Vec::with_capacity(branches.len());
    for (number, branch) in branches.iter().enumerate() {
        // The conditions beside the `$or` hold in every branch and may narrow it.
        let mut parts = conjuncts(branch, &place.child(number));
        if parts.iter().any(|part| matches!(part.node, Node::False)) {
            continue;
        }
        parts.extend_from_slice(&others);
        let leaves = Leaves::of(&parts).leaves;
        let found =
            scene.indexes.iter().filter_map(|index| Access::of(scene, index, &parts, &leaves));
        accesses.push(access::undominated(found.collect()).into_iter().next()?);
    }
    Some(joined(scene, accesses))
}

fn joined(scene: &Scene<'_>, accesses: Vec<Access>) -> Stage {
    let query = scene.query;
    let inputs = || accesses.iter().map(access::checked).collect::<Vec<Stage>>();
    let fields = query.sort.fields();
    let ordered =
        !fields.is_empty() && accesses.iter().all(|access| matches!(access.order, Order::Sorted));
    let holds_order = accesses.iter().all(|access| {
        fields.iter().all(|field| access.scan.index.fields.iter().any(|of| of.path == field.path))
    });
    let mergeable = ordered && holds_order;
    let stage = if mergeable {
        Stage::Merge { inputs: inputs(), fields: fields.into() }
    } else {
        Stage::Or { inputs: inputs() }
    };
    if query.purpose == Purpose::Count {
        return finish::count(query, stage);
    }
    let fetch = Stage::Fetch { input: Box::new(stage), filter: None::<Arc<Residual>> };
    finish::documents(query, fetch, mergeable || fields.is_empty())
}
