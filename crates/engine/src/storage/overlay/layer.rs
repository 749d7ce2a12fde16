//! Changes in the order of keys. Most keys come in order: records are numbered, and so are the
//! keys of most `_id`s. So what goes to one collection or index is a run to which the next key is
//! added, and only keys that come out of order are looked up to find their place.

use crate::storage::deferred::FREED_ASIDE_MIN;
use crate::storage::trees::{Range, Tree, TreeChange};
use fjall::Slice;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A key and its new value.
pub type KeyChange = (Slice, Option<Slice>);

#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// In the order of their places.
    parts: Vec<(Place, Part)>,
    len: usize,
}

/// A tree, and how its keys begin: with the number of a collection or an index.
type Place = (Tree, [u8; PREFIX_BYTES]);

const PREFIX_BYTES: usize = 4;

#[derive(Debug, Clone, Default)]
struct Part {
    /// In order, each once.
    run: Vec<KeyChange>,
    /// Keys that came later and belong further up.
    rest: BTreeMap<Slice, Option<Slice>>,
}

impl Layer {
    /// How many keys it has.
    pub fn len(&self) -> usize {
        self.len
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
        let earlier = self.parts[at].1.insert(key, value);
        self.len += usize::from(earlier.is_none());
        earlier
    }

    /// What there is of a tree in a range, in order. The range must not be inverted.
    pub fn first<'a>(
        &'a self,
        tree: Tree,
        range: &'a Range,
    ) -> impl Iterator<Item = KeyChange> + 'a {
        self.parts(tree, range).iter().flat_map(|(_, part)| part.first(range)).map(copied)
    }

    /// The same from the end on.
    pub fn last<'a>(
        &'a self,
        tree: Tree,
        range: &'a Range,
    ) -> impl Iterator<Item = KeyChange> + 'a {
        self.parts(tree, range).iter().rev().flat_map(|(_, part)| part.last(range)).map(copied)
    }

    /// Where keys of a range may be.
    fn parts(&self, tree: Tree, (low, high): &Range) -> &[(Place, Part)] {
        let start = match low {
            Bound::Included(key) | Bound::Excluded(key) => place(tree, key),
            Bound::Unbounded => place(tree, &[]),
        };
        let start = self.parts.partition_point(|(place, _)| *place < start);
        let end = self.parts.partition_point(|((of, prefix), _)| match high {
            Bound::Included(key) | Bound::Excluded(key) => (*of, *prefix) <= place(tree, key),
            Bound::Unbounded => *of <= tree,
        });
        &self.parts[start..end.max(start)]
    }

    /// Everything, tree by tree and in the order of keys.
    pub fn into_changes(mut self) -> Vec<TreeChange> {
        let mut changes = Vec::with_capacity(self.len);
        for ((tree, _), part) in std::mem::take(&mut self.parts) {
            let mut rest = part.rest.into_iter().peekable();
            for (key, value) in part.run {
                while let Some((key, value)) = rest.next_if(|(other, _)| *other < key) {
                    changes.push(TreeChange { tree, key, value });
                }
                changes.push(TreeChange { tree, key, value });
            }
            changes.extend(rest.map(|(key, value)| TreeChange { tree, key, value }));
        }
        changes
    }

    fn find(&self, place: Place) -> Result<usize, usize> {
        self.parts.binary_search_by(|(other, _)| other.cmp(&place))
    }
}

/// Whatever drops the last reference frees it: a rollback, or a cursor that ends.
impl Drop for Layer {
    fn drop(&mut self) {
        if self.len >= FREED_ASIDE_MIN && !self.parts.is_empty() {
            let parts = std::mem::take(&mut self.parts);
            turn::aside(|| drop(parts));
        }
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

    fn first<'a>(&'a self, range: &Range) -> impl Iterator<Item = Kept<'a>> {
        let (run, rest) = self.both(range);
        merged(run, rest, |a, b| a < b)
    }

    fn last<'a>(&'a self, range: &Range) -> impl Iterator<Item = Kept<'a>> {
        let (run, rest) = self.both(range);
        merged(run.rev(), rest.rev(), |a, b| a > b)
    }

    /// What of a range is in the run, and what came later.
    fn both<'a>(
        &'a self,
        range: &Range,
    ) -> (impl DoubleEndedIterator<Item = Kept<'a>>, impl DoubleEndedIterator<Item = Kept<'a>>)
    {
        let (low, high) = range;
        let start = self.run.partition_point(|(key, _)| match low {
            Bound::Included(start) => key < start,
            Bound::Excluded(start) => key <= start,
            Bound::Unbounded => false,
        });
        let end = self.run.partition_point(|(key, _)| match high {
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
            Bound::Unbounded => true,
        });
        let run = self.run[start..end.max(start)].iter().map(|(key, value)| (key, value));
        (run, self.rest.range(range.clone()))
    }
}

type Kept<'a> = (&'a Slice, &'a Option<Slice>);

fn copied((key, value): Kept<'_>) -> KeyChange {
    (key.clone(), value.clone())
}

/// Two sequences in the same order as one.
fn merged<'a>(
    a: impl Iterator<Item = Kept<'a>>,
    b: impl Iterator<Item = Kept<'a>>,
    is_before: fn(&Slice, &Slice) -> bool,
) -> impl Iterator<Item = Kept<'a>> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some((of_a, _)), Some((of_b, _))) if is_before(of_b, of_a) => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
}
