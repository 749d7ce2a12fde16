//! A snapshot with changes on top that nobody else sees yet: how a transaction
//! reads its own writes.

use super::Overlay;
use super::trees::{Failure, Pairs, Tree, TreeSnapshot};
use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;

pub struct Layered {
    pub base: Arc<dyn TreeSnapshot>,
    pub changes: Overlay,
}

impl TreeSnapshot for Layered {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        match self.changes.get(tree, key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(tree, key),
        }
    }

    fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        let base = self.base.range(tree, range.clone());
        let layers = self.changes.range(tree, &range);
        layers.fold(base, |pairs, layer| Box::new(MergedPairs::new(pairs, layer)))
    }
}

/// Changes in the order of keys, taken from both ends.
pub trait Top: Send {
    fn front(&mut self) -> Option<&Slice>;
    fn back(&mut self) -> Option<&Slice>;
    fn pop_front(&mut self) -> Option<(Slice, Option<Slice>)>;
    fn pop_back(&mut self) -> Option<(Slice, Option<Slice>)>;
}

/// Two sorted sequences as one, from both ends; the top wins where keys meet.
pub struct MergedPairs<T> {
    base: Pairs,
    /// Taken from the base's front, not yet given out.
    front: Option<(Slice, Slice)>,
    /// Taken from the base's back, not yet given out.
    back: Option<(Slice, Slice)>,
    top: T,
}

impl<T: Top> MergedPairs<T> {
    pub fn new(base: Pairs, top: T) -> MergedPairs<T> {
        MergedPairs { base, front: None, back: None, top }
    }

    fn fill_front(&mut self) -> Result<(), Failure> {
        if self.front.is_none() {
            self.front = self.base.next().transpose()?.or_else(|| self.back.take());
        }
        Ok(())
    }

    fn fill_back(&mut self) -> Result<(), Failure> {
        if self.back.is_none() {
            self.back = self.base.next_back().transpose()?.or_else(|| self.front.take());
        }
        Ok(())
    }
}

impl<T: Top> Iterator for MergedPairs<T> {
    type Item = Result<(Slice, Slice), Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.fill_front() {
                return Some(Err(error));
            }
            let takes_base = match (&self.front, self.top.front()) {
                (Some((base, _)), Some(top)) if base == top => {
                    self.front = None;
                    false
                }
                (Some((base, _)), Some(top)) => base < top,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if takes_base {
                return self.front.take().map(Ok);
            }
            if let (key, Some(value)) = self.top.pop_front()? {
                return Some(Ok((key, value)));
            }
        }
    }
}

impl<T: Top> DoubleEndedIterator for MergedPairs<T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.fill_back() {
                return Some(Err(error));
            }
            let takes_base = match (&self.back, self.top.back()) {
                (Some((base, _)), Some(top)) if base == top => {
                    self.back = None;
                    false
                }
                (Some((base, _)), Some(top)) => base > top,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if takes_base {
                return self.back.take().map(Ok);
            }
            if let (key, Some(value)) = self.top.pop_back()? {
                return Some(Ok((key, value)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Fixed(BTreeMap<Slice, Slice>);

    impl TreeSnapshot for Fixed {
        fn get(&self, _: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
            Ok(self.0.get(key).cloned())
        }

        fn range(&self, _: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
            let pairs: Vec<_> =
                self.0.range(range).map(|(k, v)| Ok((k.clone(), v.clone()))).collect();
            Box::new(pairs.into_iter())
        }
    }

    fn layered() -> Layered {
        let base = ["a", "c", "e", "g"].iter().map(|key| (Slice::from(*key), "base".into()));
        let changes = [("b", Some("top")), ("c", None), ("e", Some("top")), ("h", Some("top"))];
        let mut overlay = Overlay::default();
        for (key, value) in changes {
            overlay.insert(Tree::Records, key.into(), value.map(Slice::from));
        }
        Layered { base: Arc::new(Fixed(base.collect())), changes: overlay }
    }

    fn text(pair: Result<(Slice, Slice), Failure>) -> String {
        let (key, value) = pair.expect("no failure here");
        format!("{}={}", String::from_utf8_lossy(&key), String::from_utf8_lossy(&value))
    }

    #[test]
    fn both_directions_see_the_top_over_the_base() {
        let all = (Bound::Unbounded, Bound::Unbounded);
        let forward: Vec<_> = layered().range(Tree::Records, all.clone()).map(text).collect();
        assert_eq!(forward, ["a=base", "b=top", "e=top", "g=base", "h=top"]);
        let mut backward: Vec<_> =
            layered().range(Tree::Records, all.clone()).rev().map(text).collect();
        backward.reverse();
        assert_eq!(backward, forward);
        let mut both = layered().range(Tree::Records, all);
        let ends = [both.next(), both.next_back(), both.next(), both.next_back(), both.next()];
        let ends: Vec<_> = ends.into_iter().flatten().map(text).collect();
        assert_eq!(ends, ["a=base", "h=top", "b=top", "g=base", "e=top"]);
        assert!(both.next().is_none() && both.next_back().is_none());
    }
}
