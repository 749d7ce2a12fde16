//! A snapshot with deferred changes on top of the trees.

use super::Deferred;
use crate::storage::keys;
use crate::storage::layered::{MergedPairs, Top};
use crate::storage::trees::{Failure, Pairs, Range, Tree, TreeChange, TreeSnapshot};
use fjall::Slice;
use std::ops;
use std::sync::Arc;

pub struct OnTop {
    base: Arc<dyn TreeSnapshot>,
    /// Of several commits that hold their intents, so that no two have a key in common.
    deferred: Vec<Arc<Deferred>>,
}

impl OnTop {
    /// A snapshot with those changes on top that belong to it: their commit is in it, and
    /// their last piece is not.
    pub fn over(base: Arc<dyn TreeSnapshot>, all: &[Arc<Deferred>]) -> Arc<dyn TreeSnapshot> {
        let mut deferred = Vec::new();
        for one in all {
            match base.get(Tree::Records, &keys::deferred(one.number)) {
                Ok(Some(_)) => deferred.push(one.clone()),
                Ok(None) => {}
                Err(error) => return Arc::new(Unreadable(error.to_string())),
            }
        }
        match deferred.is_empty() {
            true => base,
            false => Arc::new(OnTop { base, deferred }),
        }
    }
}

/// In place of a snapshot of which it is not known what belongs to it.
struct Unreadable(String);

impl TreeSnapshot for Unreadable {
    fn get(&self, _: Tree, _: &[u8]) -> Result<Option<Slice>, Failure> {
        Err(self.0.as_str().into())
    }

    fn range(&self, _: Tree, _: Range) -> Pairs {
        Box::new(std::iter::once(Err(self.0.as_str().into())))
    }
}

impl TreeSnapshot for OnTop {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        let found = self.deferred.iter().find_map(|deferred| deferred.changes.get(tree, key));
        found.map_or_else(|| self.base.get(tree, key), |value| Ok(value.clone()))
    }

    fn range(&self, tree: Tree, range: Range) -> Pairs {
        let base = self.base.range(tree, range.clone());
        self.deferred.iter().fold(base, |pairs, deferred| {
            match deferred.changes.span(tree, &range) {
                span if span.is_empty() => pairs,
                span => Box::new(MergedPairs::new(pairs, Run { deferred: deferred.clone(), span })),
            }
        })
    }
}

/// Changes in order that are not given out yet.
struct Run {
    deferred: Arc<Deferred>,
    span: ops::Range<usize>,
}

impl Run {
    fn changes(&self) -> &[TreeChange] {
        &self.deferred.changes.all[self.span.clone()]
    }
}

impl Deferred {
    fn pair(&self, at: usize) -> (Slice, Option<Slice>) {
        let TreeChange { key, value, .. } = &self.changes.all[at];
        (key.clone(), value.clone())
    }
}

impl Top for Run {
    fn front(&mut self) -> Option<&Slice> {
        self.changes().first().map(|change| &change.key)
    }

    fn back(&mut self) -> Option<&Slice> {
        self.changes().last().map(|change| &change.key)
    }

    fn pop_front(&mut self) -> Option<(Slice, Option<Slice>)> {
        self.span.next().map(|at| self.deferred.pair(at))
    }

    fn pop_back(&mut self) -> Option<(Slice, Option<Slice>)> {
        self.span.next_back().map(|at| self.deferred.pair(at))
    }
}
