//! Reorders and joins stages where the outcome is the same: filters go first,
//! so that the planner can use indexes, and a sort learns of its limit.

use super::Stage;
use super::stages::{Limit, Match, Skip, Sort, UnionWith};
use crate::query::Node;
use crate::{Needs, interrupt};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use value::Path;

pub fn optimize(mut stages: Vec<Box<dyn Stage>>) -> VecDeque<Arc<dyn Stage>> {
    hoist_matches(&mut stages);
    let mut out: Vec<Box<dyn Stage>> = Vec::with_capacity(stages.len());
    for stage in stages {
        let left = match out.last_mut() {
            Some(last) => join(last, stage),
            None => Some(stage),
        };
        out.extend(left);
    }
    limit_sorts(&mut out);
    out.into_iter().map(Arc::from).collect()
}

/// Moves each `$match`, or as much of it as can go, in front of the stages that do
/// not change what it reads.
fn hoist_matches(stages: &mut Vec<Box<dyn Stage>>) {
    let mut at = 1;
    // Each may pass all others. The caller reports the interrupt.
    while at < stages.len() && interrupt::check().is_ok() {
        let parts = hoist(stages, at);
        at += parts;
    }
}

/// Moves one `$match`; how many stages stand in its place then, itself included.
fn hoist(stages: &mut Vec<Box<dyn Stage>>, mut at: usize) -> usize {
    let mut parts = 1;
    while at > 0 && interrupt::check().is_ok() {
        // Other filters are no hindrance.
        let over = filters_before(stages, at);
        let (before, behind) = stages.split_at_mut(at);
        let (Some(last), Some(stage)) = (before.iter_mut().nth_back(over), behind.first_mut())
        else {
            break;
        };
        let stage: &mut dyn Any = &mut **stage;
        let Some(filter) = stage.downcast_mut::<Match>() else { break };
        let to = at - over - 1;
        let union: &mut dyn Any = &mut **last;
        if let Some(union) = union.downcast_mut::<UnionWith>() {
            // What it adds is filtered there.
            union.filter(filter.copied());
            stages[to..=at].rotate_right(1);
        } else if goes_before(filter, &**last) {
            stages[to..=at].rotate_right(1);
        } else if let Some(part) = filter.split(|node| passes(&**last, node)) {
            stages.insert(to, Box::new(part));
            parts += 1;
        } else {
            break;
        }
        at = to;
    }
    parts
}

/// How many filters stand right before a `$match` that it may go before: which of them is first
/// makes no difference, as long as none of them fails or is drawn by lot.
fn filters_before(stages: &[Box<dyn Stage>], at: usize) -> usize {
    let is_plain = |stage: &dyn Any| {
        let root = stage.downcast_ref::<Match>().map(|stage| &stage.filter.root);
        root.is_some_and(|root| !root.is_random() && !can_fail(root))
    };
    match stages.get(at).is_some_and(|stage| is_plain(&**stage)) {
        true => stages[..at].iter().rev().take_while(|stage| is_plain(&***stage)).count(),
        false => 0,
    }
}

/// Whether a condition may be an error for some documents.
fn can_fail(node: &Node) -> bool {
    match node {
        Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => nodes.iter().any(can_fail),
        Node::Expr(_) => true,
        _ => false,
    }
}

/// Whether a filter may as well go before a stage; then it asks for what stands there.
pub fn goes_before(filter: &mut Match, stage: &dyn Stage) -> bool {
    let root = &filter.filter.root;
    // One that reads nothing has nothing to rename: the stage may be where documents come from.
    let renames = !matches!(read_by(root), Needs::Paths(paths) if paths.is_empty());
    passes(stage, root) || (renames && filter.rename(|path| source_of(stage, path)))
}

/// Where the value at a path stands before a stage.
fn source_of(before: &dyn Stage, path: &Path) -> Option<Path> {
    match before.lets_pass(&Needs::Paths(vec![path.clone()])) {
        true => Some(path.clone()),
        false => before.source_of(path),
    }
}

fn passes(before: &dyn Stage, node: &Node) -> bool {
    before.lets_pass(&read_by(node))
}

/// What a condition goes by. One that is drawn by lot goes by the document as it stands there:
/// elsewhere there may be other documents to draw from.
pub fn read_by(node: &Node) -> Needs {
    let mut read = Needs::none();
    match node.is_random() {
        true => read.all(),
        false => node.depends_on(&mut read),
    }
    // A stage may change what is at an array's ends by changing what is below it.
    read.widen();
    read
}

/// Joins a stage to the one before it, or gives it back.
fn join(last: &mut Box<dyn Stage>, stage: Box<dyn Stage>) -> Option<Box<dyn Stage>> {
    let before: &mut dyn Any = &mut **last;
    let next: &dyn Any = &*stage;
    if let (Some(limit), Some(next)) = (before.downcast_mut::<Limit>(), next.downcast_ref()) {
        let Limit(next) = next;
        limit.0 = limit.0.min(*next);
        return None;
    }
    if let (Some(skip), Some(Skip(next))) =
        (before.downcast_mut::<Skip>(), next.downcast_ref::<Skip>())
        && let Some(sum) = skip.0.checked_add(*next)
    {
        skip.0 = sum;
        return None;
    }
    if before.is::<Match>() && next.is::<Match>() {
        let next: Box<dyn Any> = stage;
        return match (before.downcast_mut::<Match>(), next.downcast::<Match>()) {
            (Some(first), Ok(next)) => match first.and(*next) {
                Ok(()) => None,
                Err(next) => Some(Box::new(next)),
            },
            _ => None,
        };
    }
    Some(stage)
}

/// Tells each `$sort` how many of its documents are used.
fn limit_sorts(stages: &mut [Box<dyn Stage>]) {
    for at in 0..stages.len() {
        let mut skipped: u64 = 0;
        let mut limit = None;
        for later in &stages[at + 1..] {
            let later: &dyn Any = &**later;
            if let Some(Skip(count)) = later.downcast_ref() {
                skipped = skipped.saturating_add(*count);
            } else {
                limit = later.downcast_ref::<Limit>().map(|limit| limit.0.saturating_add(skipped));
                break;
            }
        }
        let stage: &mut dyn Any = &mut *stages[at];
        if let (Some(sort), Some(limit)) = (stage.downcast_mut::<Sort>(), limit) {
            sort.limit = Some(sort.limit.map_or(limit, |before| before.min(limit)));
        }
    }
}
