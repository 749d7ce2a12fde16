//! What one pass over a collection's documents counts.
//!
//! Each document is walked once, as raw BSON, for all detectors together. Nothing of a
//! document is kept but figures, a few ids and examples; every list has a named cap, so
//! that a census stays small whatever the collection holds.

mod array;
mod cardinality;
mod dates;
mod distribution;
mod extremes;
mod family;
mod frequent;
mod key;
mod shard_key;
mod spellings;
mod tree;
mod walk;

pub use array::{ArrayCensus, Longest, Span};
pub use cardinality::Cardinality;
pub use dates::Dates;
pub use distribution::Distribution;
pub use extremes::Extremes;
pub use family::Family;
pub use frequent::Frequent;
pub use key::KeyClass;
pub use shard_key::{KeyField, ShardKey};
pub use spellings::Spellings;
pub use tree::{Node, NodeId, Tree};

use bson::{Document, RawDocument};
use serde_json::Value;

/// Documents with invalid UTF-8 whose ids are kept.
const BROKEN_IDS_MAX: usize = 5;
/// The largest documents whose ids are kept.
const LARGEST_MAX: usize = 5;
/// The fields named for each of the largest documents.
const HEAVY_FIELDS_MAX: usize = 3;

/// The figures of one collection.
#[derive(Debug)]
pub struct Census {
    /// Bytes of whole documents.
    pub sizes: Distribution,
    pub largest: Extremes<Large>,
    /// Every path, with what stands there.
    pub tree: Tree,
    /// When documents were made, where their `_id`s tell it.
    pub created: Dates,
    /// The values of the shard key, where the collection has one.
    pub shard_key: Option<ShardKey>,
    /// Documents with invalid UTF-8 or malformed bytes.
    pub broken: u64,
    pub broken_ids: Vec<Value>,
}

/// One of the largest documents.
#[derive(Debug, Clone)]
pub struct Large {
    pub id: Value,
    /// The fields that weigh most, with their bytes.
    pub fields: Vec<(String, u64)>,
}

impl Census {
    /// Ages are counted back from `now`, in milliseconds since 1970.
    pub fn new(now: i64) -> Census {
        Census {
            sizes: Distribution::new(),
            largest: Extremes::new(LARGEST_MAX),
            tree: Tree::new(),
            created: Dates::new(now),
            shard_key: None,
            broken: 0,
            broken_ids: Vec::new(),
        }
    }

    /// Follows the values of a shard key, too, from the next document on.
    pub fn follow(&mut self, key: &Document) {
        self.shard_key = Some(ShardKey::new(key));
    }

    /// Counts a document.
    pub fn add(&mut self, document: &RawDocument) {
        walk::document(self, document, false);
    }

    /// Takes in a document that was looked for because it is large: what is greatest and
    /// longest follows it, what is usual does not.
    pub fn add_outlier(&mut self, document: &RawDocument) {
        walk::document(self, document, true);
    }

    pub fn documents(&self) -> u64 {
        self.sizes.count()
    }

    /// The arrays by path, the longest first.
    pub fn arrays(&self) -> Vec<(String, &ArrayCensus)> {
        let arrays = self.tree.nodes().filter_map(|(id, node)| {
            let array = node.array.as_deref()?;
            Some((self.tree.path(id), array))
        });
        let mut arrays: Vec<_> = arrays.collect();
        arrays.sort_by(|(a, left), (b, right)| {
            right.lengths.max().cmp(&left.lengths.max()).then_with(|| a.cmp(b))
        });
        arrays
    }

    /// The fields that weigh most in all documents together, with their bytes.
    pub fn heavy_fields(&self) -> Vec<(String, u64)> {
        let children = self.tree.children(Tree::ROOT);
        heaviest(children.map(|(id, node)| (self.tree.path(id), node.bytes)))
    }
}

fn heaviest(fields: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    fields.truncate(HEAVY_FIELDS_MAX);
    fields
}

#[cfg(test)]
mod tests;
