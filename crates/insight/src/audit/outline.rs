//! What is kept of a collection once it has been looked at: little, since there may be
//! thousands.

use super::census::{Census, Tree};
use super::facts::{Collection, Kind};
use crate::report;
use command::Namespace;

/// The arrays of a collection that the report shows.
const ARRAYS_SHOWN_MAX: usize = 10;
/// The fields of a collection's shape.
const FIELDS_MAX: usize = 100;
/// A field belongs to the shape if this share of the documents has it.
const FIELD_SHARE_MIN: f64 = 0.1;

#[derive(Debug, Clone)]
pub struct Outline {
    pub namespace: Namespace,
    pub kind: Kind,
    pub documents: u64,
    /// The names of the fields on top, in order; empty where no document was seen.
    pub fields: Vec<String>,
    pub indexes: usize,
}

impl Outline {
    pub fn new(collection: &Collection, census: &Census) -> Outline {
        let seen = census.documents() as f64;
        let mut fields: Vec<String> = census
            .tree
            .children(Tree::ROOT)
            .filter(|(_, node)| node.count as f64 >= seen * FIELD_SHARE_MIN)
            .map(|(_, node)| node.key.to_string())
            .take(FIELDS_MAX)
            .collect();
        fields.sort();
        Outline {
            namespace: collection.namespace.clone(),
            kind: collection.kind,
            documents: collection.documents.unwrap_or(census.documents()),
            fields,
            indexes: collection.indexes.len(),
        }
    }
}

/// The part of the report about a collection.
pub fn shown(collection: &Collection, census: &Census) -> report::Collection {
    let arrays = census.arrays().into_iter().take(ARRAYS_SHOWN_MAX);
    report::Collection {
        namespace: collection.namespace.to_string(),
        kind: collection.kind.name().to_owned(),
        documents: collection.documents,
        scanned: census.documents(),
        indexes: collection.indexes.len(),
        sizes: (census.documents() > 0).then(|| census.sizes.spread()),
        arrays: arrays
            .map(|(path, array)| report::Array { path, lengths: array.lengths.spread() })
            .collect(),
    }
}
