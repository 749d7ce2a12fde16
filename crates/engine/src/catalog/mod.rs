//! What the store holds: collections, indexes, views, their options.

mod collection;
mod index;

pub use collection::Collection;
pub use index::{Index, IndexField, IndexKind, Multikey};
