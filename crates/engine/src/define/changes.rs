//! The rows that a change of definition writes.

use crate::storage::{Tree, TreeChange};
use fjall::Slice;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Changes of rows, each row once.
#[derive(Default)]
pub struct RowChanges {
    list: Vec<TreeChange>,
    /// Where a row's change stands in the list.
    places: FxHashMap<(Tree, Slice), usize>,
}

impl RowChanges {
    /// A later change of the same row takes the place of an earlier one.
    pub fn put(&mut self, change: TreeChange) {
        match self.places.entry((change.tree, change.key.clone())) {
            Entry::Occupied(place) => self.list[*place.get()] = change,
            Entry::Vacant(place) => {
                place.insert(self.list.len());
                self.list.push(change);
            }
        }
    }

    pub fn into_vec(self) -> Vec<TreeChange> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_of_a_row_is_the_one_that_is_made() {
        let change = |tree, key: &str, value: Option<&str>| TreeChange {
            tree,
            key: key.into(),
            value: value.map(Into::into),
        };
        let mut changes = RowChanges::default();
        changes.put(change(Tree::Records, "a", Some("1")));
        changes.put(change(Tree::Records, "b", Some("2")));
        changes.put(change(Tree::Entries, "a", Some("3")));
        changes.put(change(Tree::Records, "a", None));
        let made: Vec<_> = changes.into_vec().into_iter().map(|it| (it.tree, it.value)).collect();
        let expected =
            [(Tree::Records, None), (Tree::Records, Some("2")), (Tree::Entries, Some("3"))];
        assert_eq!(made, expected.map(|(tree, value)| (tree, value.map(Slice::from))));
    }
}
