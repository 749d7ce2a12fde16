//! What a transaction has written and not committed, in the order of keys.
//!
//! Most keys come in order: records are numbered, and so are the keys of most `_id`s. So
//! what goes to one collection or index is a run to which the next key is added, and only
//! keys that come out of order are looked up to find their place.

use super::trees::{Change, Tree};
use fjall::Slice;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Bound, RangeBounds};

/// New values by tree and key; `None` is a removal.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// In the order of their places.
    parts: Vec<(Place, Part)>,
}

/// A tree, and how its keys begin: with the number of a collection or an index.
type Place = (Tree, [u8; PREFIX_BYTES]);

const PREFIX_BYTES: usize = 4;

#[derive(Debug, Clone, Default)]
struct Part {
    /// In order, each once.
    run: Vec<(Slice, Option<Slice>)>,
    /// Keys that came later and belong further up.
    rest: BTreeMap<Slice, Option<Slice>>,
}

impl Overlay {
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn get(&self, tree: Tree, key: &[u8]) -> Option<&Option<Slice>> {
        let at = self.find(place(tree, key)).ok()?;
        self.parts[at].1.get(key)
    }

    /// Sets a key's value, and gives the one it had here.
    pub fn insert(
        &mut self,
        tree: Tree,
        key: Slice,
        value: Option<Slice>,
    ) -> Option<Option<Slice>> {
        let place = place(tree, &key);
        let at = self.find(place).unwrap_or_else(|at| {
            self.parts.insert(at, (place, Part::default()));
            at
        });
        self.parts[at].1.insert(key, value)
    }

    /// What there is of a tree in a range, in order. The range must not be inverted.
    pub fn range(
        &self,
        tree: Tree,
        range: &(Bound<Slice>, Bound<Slice>),
    ) -> VecDeque<(Slice, Option<Slice>)> {
        let first = match &range.0 {
            Bound::Included(key) | Bound::Excluded(key) => place(tree, key),
            Bound::Unbounded => place(tree, &[]),
        };
        let from = self.parts.partition_point(|(place, _)| *place < first);
        let mut found = VecDeque::new();
        for ((of, prefix), part) in &self.parts[from..] {
            let is_behind = match &range.1 {
                Bound::Included(key) | Bound::Excluded(key) => (*of, *prefix) > place(tree, key),
                Bound::Unbounded => *of != tree,
            };
            if is_behind {
                break;
            }
            part.range(range, &mut found);
        }
        found
    }

    /// Everything, tree by tree and in the order of keys.
    pub fn into_changes(self) -> Vec<Change> {
        let count = self.parts.iter().map(|(_, part)| part.run.len() + part.rest.len()).sum();
        let mut changes = Vec::with_capacity(count);
        for ((tree, _), part) in self.parts {
            let mut rest = part.rest.into_iter().peekable();
            for (key, value) in part.run {
                while let Some((key, value)) = rest.next_if(|(other, _)| *other < key) {
                    changes.push(Change { tree, key, value });
                }
                changes.push(Change { tree, key, value });
            }
            changes.extend(rest.map(|(key, value)| Change { tree, key, value }));
        }
        changes
    }

    fn find(&self, place: Place) -> Result<usize, usize> {
        self.parts.binary_search_by(|(other, _)| other.cmp(&place))
    }
}

fn place(tree: Tree, key: &[u8]) -> Place {
    let mut prefix = [0; PREFIX_BYTES];
    let length = key.len().min(PREFIX_BYTES);
    prefix[..length].copy_from_slice(&key[..length]);
    (tree, prefix)
}

impl Part {
    fn is_next(&self, key: &[u8]) -> bool {
        self.run.last().is_none_or(|(last, _)| **last < *key)
    }

    fn find(&self, key: &[u8]) -> Option<usize> {
        match self.is_next(key) {
            true => None,
            false => self.run.binary_search_by(|(other, _)| (**other).cmp(key)).ok(),
        }
    }

    fn get(&self, key: &[u8]) -> Option<&Option<Slice>> {
        match self.find(key) {
            Some(at) => Some(&self.run[at].1),
            None => self.rest.get(key),
        }
    }

    fn insert(&mut self, key: Slice, value: Option<Slice>) -> Option<Option<Slice>> {
        if let Some(at) = self.find(&key) {
            return Some(std::mem::replace(&mut self.run[at].1, value));
        }
        // What belongs behind the run is not in the rest: it would have been added to it.
        if self.is_next(&key) {
            self.run.push((key, value));
            return None;
        }
        self.rest.insert(key, value)
    }

    fn range(
        &self,
        range: &(Bound<Slice>, Bound<Slice>),
        found: &mut VecDeque<(Slice, Option<Slice>)>,
    ) {
        let start = self.run.partition_point(|(key, _)| match &range.0 {
            Bound::Included(start) => key < start,
            Bound::Excluded(start) => key <= start,
            Bound::Unbounded => false,
        });
        let run = self.run[start..].iter().take_while(|(key, _)| range.contains(key));
        let mut rest = self.rest.range(range.clone()).peekable();
        let mut add = |key: &Slice, value: &Option<Slice>| {
            found.push_back((key.clone(), value.clone()));
        };
        for (key, value) in run {
            while let Some((key, value)) = rest.next_if(|(other, _)| *other < key) {
                add(key, value);
            }
            add(key, value);
        }
        rest.for_each(|(key, value)| add(key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Model = BTreeMap<(Tree, Slice), Option<Slice>>;

    fn key() -> impl Strategy<Value = Slice> {
        let number = prop_oneof![0..4_u8, Just(255)];
        prop::collection::vec(number, 0..7).prop_map(Slice::from)
    }

    fn bound() -> impl Strategy<Value = Bound<Slice>> {
        prop_oneof![
            key().prop_map(Bound::Included),
            key().prop_map(Bound::Excluded),
            Just(Bound::Unbounded),
        ]
    }

    fn pairs<'m>(
        model: &'m Model,
        tree: Tree,
        range: &'m (Bound<Slice>, Bound<Slice>),
    ) -> impl Iterator<Item = (Slice, Option<Slice>)> + 'm {
        let inside = move |((of, key), _): &(&(Tree, Slice), &Option<Slice>)| {
            *of == tree && range.contains(key)
        };
        model.iter().filter(inside).map(|((_, key), value)| (key.clone(), value.clone()))
    }

    fn is_inverted(range: &(Bound<Slice>, Bound<Slice>)) -> bool {
        match range {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Excluded(a), Bound::Excluded(b)) => a >= b,
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                a > b
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_what_a_sorted_map_is(
            writes in prop::collection::vec((0..3_usize, key(), any::<Option<u8>>()), 0..60),
            ranges in prop::collection::vec((0..3_usize, bound(), bound()), 0..12),
        ) {
            let mut overlay = Overlay::default();
            let mut model = Model::new();
            for (tree, key, value) in writes {
                let (tree, value) = (Tree::ALL[tree], value.map(|byte| Slice::from([byte])));
                let before = model.insert((tree, key.clone()), value.clone());
                prop_assert_eq!(overlay.get(tree, &key), before.as_ref());
                prop_assert_eq!(overlay.insert(tree, key.clone(), value), before);
                prop_assert_eq!(overlay.get(tree, &key), model.get(&(tree, key)));
            }
            prop_assert_eq!(overlay.is_empty(), model.is_empty());
            for (tree, start, end) in ranges {
                let range = (start, end);
                if !is_inverted(&range) {
                    let tree = Tree::ALL[tree];
                    let found: Vec<_> = overlay.range(tree, &range).into();
                    prop_assert_eq!(found, pairs(&model, tree, &range).collect::<Vec<_>>());
                }
            }
            let changes = overlay.into_changes().into_iter();
            let changes: Vec<_> = changes.map(|it| ((it.tree, it.key), it.value)).collect();
            prop_assert_eq!(changes, model.into_iter().collect::<Vec<_>>());
        }
    }
}
