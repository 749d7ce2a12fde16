//! Values by name, shared between copies of a context. Most commands have none, and then
//! nothing is allocated.

use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Names<T>(Option<Arc<FxHashMap<Box<str>, T>>>);

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names(None)
    }
}

impl<T> Names<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.as_ref()?.get(name)
    }
}

impl<T: Clone> Names<T> {
    /// Adds values; earlier ones of the same names are hidden.
    pub fn extend(&mut self, values: impl IntoIterator<Item = (Box<str>, T)>) {
        Arc::make_mut(self.0.get_or_insert_default()).extend(values);
    }
}
