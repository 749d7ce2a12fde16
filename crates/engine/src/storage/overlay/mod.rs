//! What a transaction has written and not committed, in the order of keys.
//!
//! Views that are still read, such as those of open cursors, share it: what is written while
//! there are any goes to a new layer on top, and nothing is copied for them. Layers that have
//! become about as large as the one below are joined with it, so that there are few of them, and
//! all joining together copies no change more than a logarithm of times.

mod layer;
mod run;

use super::trees::{Range, Tree, TreeChange};
use fjall::Slice;
use layer::Layer;
use run::Run;
use std::sync::Arc;

/// New values by tree and key; `None` is a removal.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// Those that are written no more, the oldest first.
    below: Vec<Arc<Layer>>,
    top: Arc<Layer>,
}

impl Overlay {
    pub fn is_empty(&self) -> bool {
        self.below.is_empty() && self.top.len() == 0
    }

    pub fn get(&self, tree: Tree, key: &[u8]) -> Option<&Option<Slice>> {
        self.top.get(tree, key).or_else(|| self.below(tree, key))
    }

    fn below(&self, tree: Tree, key: &[u8]) -> Option<&Option<Slice>> {
        self.below.iter().rev().find_map(|layer| layer.get(tree, key))
    }

    /// Sets a key's value, and gives the one it had here.
    pub fn insert(
        &mut self,
        tree: Tree,
        key: Slice,
        value: Option<Slice>,
    ) -> Option<Option<Slice>> {
        if Arc::get_mut(&mut self.top).is_none() {
            self.cover();
        }
        let below = self.below(tree, &key).cloned();
        // What was shared has just been covered: nothing is copied.
        Arc::make_mut(&mut self.top).insert(tree, key, value).or(below)
    }

    /// Begins a new layer.
    fn cover(&mut self) {
        let mut last = std::mem::take(&mut self.top);
        while let Some(below) = self.below.pop_if(|below| below.len() < 2 * last.len()) {
            last = Arc::new(joined(below, last));
        }
        self.below.push(last);
    }

    /// What there is of a tree in a range, layer by layer from the oldest on. The range must not
    /// be inverted.
    pub fn range(&self, tree: Tree, range: &Range) -> impl Iterator<Item = Run> {
        let layers = self.below.iter().chain([&self.top]);
        layers.filter_map(move |layer| Run::of(layer, tree, range.clone()))
    }

    /// Everything, tree by tree and in the order of keys.
    pub fn into_changes(self) -> Vec<TreeChange> {
        let layers = self.below.into_iter().chain([self.top]);
        let all = layers.reduce(|below, above| Arc::new(joined(below, above)));
        all.map(|all| Arc::unwrap_or_clone(all).into_changes()).unwrap_or_default()
    }
}

/// One layer with what the one above makes of it.
fn joined(below: Arc<Layer>, above: Arc<Layer>) -> Layer {
    let mut below = Arc::unwrap_or_clone(below);
    for TreeChange { tree, key, value } in Arc::unwrap_or_clone(above).into_changes() {
        below.insert(tree, key, value);
    }
    below
}

#[cfg(test)]
mod tests;
