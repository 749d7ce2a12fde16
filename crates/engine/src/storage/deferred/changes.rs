//! Changes in order: tree by tree, by key, each key once.

use crate::storage::trees::{Range, Tree, TreeChange};
use budget::{Held, Kind};
use fjall::Slice;
use std::ops::{self, Bound};

/// From this many on changes are freed beside the threads that serve sockets: those of a commit
/// are freed with the last snapshot that shows them.
pub const FREED_ASIDE_MIN: usize = 4 * 1024;

/// The changes of a commit, with what they take of the memory budget.
pub struct DeferredChanges {
    pub(super) all: Vec<TreeChange>,
    pub(super) _memory: Held,
}

/// Changes for which nothing is reserved.
impl From<Vec<TreeChange>> for DeferredChanges {
    fn from(all: Vec<TreeChange>) -> DeferredChanges {
        DeferredChanges { all, _memory: Held::new(Kind::Work) }
    }
}

impl DeferredChanges {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The new value of a key, or its removal.
    pub fn get(&self, tree: Tree, key: &[u8]) -> Option<&Option<Slice>> {
        find(&self.all, tree, key)
    }

    /// Where the keys of a range stand.
    pub(super) fn span(&self, tree: Tree, (low, high): &Range) -> ops::Range<usize> {
        let start = self.all.partition_point(|change| match low {
            Bound::Included(low) => (change.tree, &change.key) < (tree, low),
            Bound::Excluded(low) => (change.tree, &change.key) <= (tree, low),
            Bound::Unbounded => change.tree < tree,
        });
        let end = self.all.partition_point(|change| match high {
            Bound::Included(high) => (change.tree, &change.key) <= (tree, high),
            Bound::Excluded(high) => (change.tree, &change.key) < (tree, high),
            Bound::Unbounded => change.tree <= tree,
        });
        start..end.max(start)
    }
}

impl Drop for DeferredChanges {
    fn drop(&mut self) {
        if self.all.len() >= FREED_ASIDE_MIN {
            let changes = std::mem::take(&mut self.all);
            turn::aside(|| drop(changes));
        }
    }
}

/// What changes in order make of a key.
pub fn find<'c>(changes: &'c [TreeChange], tree: Tree, key: &[u8]) -> Option<&'c Option<Slice>> {
    let found = changes.binary_search_by(|it| (it.tree, &*it.key).cmp(&(tree, key)));
    found.ok().and_then(|at| changes.get(at)).map(|change| &change.value)
}
