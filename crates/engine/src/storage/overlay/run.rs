//! Changes of a layer in a range, read on from both ends, a few at a time: most who begin with a
//! range do not come to its end.

use super::layer::{KeyChange, Layer};
use crate::storage::layered::Top;
use crate::storage::trees::{Range, Tree};
use fjall::Slice;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

/// How many are read at once.
const READ_AT_ONCE: usize = 32;

pub struct Run {
    layer: Arc<Layer>,
    tree: Tree,
    /// What has not been read yet.
    unread: Option<Range>,
    front: VecDeque<KeyChange>,
    back: VecDeque<KeyChange>,
}

impl Run {
    /// `None` if the layer has nothing there.
    pub fn of(layer: &Arc<Layer>, tree: Tree, range: Range) -> Option<Run> {
        let (layer, (front, back)) = (layer.clone(), <(VecDeque<_>, VecDeque<_>)>::default());
        let mut run = Run { layer, tree, unread: Some(range), front, back };
        run.front().is_some().then_some(run)
    }

    /// How many are in memory.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.front.len() + self.back.len()
    }

    fn read_front(&mut self) {
        let Some(range) = self.unread.take() else { return };
        self.front.extend(self.layer.first(self.tree, &range).take(READ_AT_ONCE));
        if self.front.len() == READ_AT_ONCE
            && let Some((last, _)) = self.front.back()
        {
            self.unread = Some((Bound::Excluded(last.clone()), range.1));
        }
    }

    fn read_back(&mut self) {
        let Some(range) = self.unread.take() else { return };
        for pair in self.layer.last(self.tree, &range).take(READ_AT_ONCE) {
            self.back.push_front(pair);
        }
        if self.back.len() == READ_AT_ONCE
            && let Some((first, _)) = self.back.front()
        {
            self.unread = Some((range.0, Bound::Excluded(first.clone())));
        }
    }
}

impl Top for Run {
    fn front(&mut self) -> Option<&Slice> {
        if self.front.is_empty() {
            self.read_front();
        }
        self.front.front().or(self.back.front()).map(|(key, _)| key)
    }

    fn back(&mut self) -> Option<&Slice> {
        if self.back.is_empty() {
            self.read_back();
        }
        self.back.back().or(self.front.back()).map(|(key, _)| key)
    }

    fn pop_front(&mut self) -> Option<KeyChange> {
        self.front()?;
        self.front.pop_front().or_else(|| self.back.pop_front())
    }

    fn pop_back(&mut self) -> Option<KeyChange> {
        self.back()?;
        self.back.pop_back().or_else(|| self.front.pop_back())
    }
}
