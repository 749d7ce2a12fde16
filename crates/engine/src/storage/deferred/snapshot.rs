//! A snapshot with deferred entries on top of the tree.

use super::Deferred;
use crate::storage::keys;
use crate::storage::layered::{Merge, Top};
use crate::storage::trees::{Failure, Pairs, Range, Snapshot, Tree};
use fjall::Slice;
use std::ops;
use std::sync::Arc;

pub struct OnTop {
    base: Arc<dyn Snapshot>,
    /// Of several documents, so that no two have a key in common.
    deferred: Vec<Arc<Deferred>>,
}

impl OnTop {
    /// A snapshot with those entries on top that belong to it: their commit is in it, and
    /// their last piece is not.
    pub fn over(base: Arc<dyn Snapshot>, all: &[Arc<Deferred>]) -> Arc<dyn Snapshot> {
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

impl Snapshot for Unreadable {
    fn get(&self, _: Tree, _: &[u8]) -> Result<Option<Slice>, Failure> {
        Err(self.0.as_str().into())
    }

    fn range(&self, _: Tree, _: Range) -> Pairs {
        Box::new(std::iter::once(Err(self.0.as_str().into())))
    }
}

impl Snapshot for OnTop {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        let found = match tree {
            Tree::Entries => self.deferred.iter().find_map(|deferred| deferred.get(key)),
            Tree::Records | Tree::Large => None,
        };
        found.map_or_else(|| self.base.get(tree, key), |value| Ok(value.clone()))
    }

    fn range(&self, tree: Tree, range: Range) -> Pairs {
        let base = self.base.range(tree, range.clone());
        if tree != Tree::Entries {
            return base;
        }
        self.deferred.iter().fold(base, |pairs, deferred| match deferred.span(&range) {
            span if span.is_empty() => pairs,
            span => Box::new(Merge::new(pairs, Run { deferred: deferred.clone(), span })),
        })
    }
}

/// Entries in order that are not given out yet.
struct Run {
    deferred: Arc<Deferred>,
    span: ops::Range<usize>,
}

impl Top for Run {
    fn front(&self) -> Option<&Slice> {
        self.deferred.entries[self.span.clone()].first().map(|(key, _)| key)
    }

    fn back(&self) -> Option<&Slice> {
        self.deferred.entries[self.span.clone()].last().map(|(key, _)| key)
    }

    fn pop_front(&mut self) -> Option<(Slice, Option<Slice>)> {
        self.span.next().map(|at| self.deferred.entries[at].clone())
    }

    fn pop_back(&mut self) -> Option<(Slice, Option<Slice>)> {
        self.span.next_back().map(|at| self.deferred.entries[at].clone())
    }
}
