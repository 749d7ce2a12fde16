//! The shape of a query: what it asks, without the values it asks with.

use crate::plan::{Plan, Query};
use bson::{RawBsonRef, RawDocument};
use value::key::Direction;

const BASIS: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// Eight digits that queries of one shape share.
pub fn hash(query: &Query) -> String {
    format!("{:08X}", shape(query))
}

/// As `hash`, of the shape and the indexes that the query can choose from.
pub fn with_indexes(query: &Query, plan: &Plan) -> String {
    let names = plan.collection.iter().flat_map(|collection| &collection.indexes);
    let hash = names.fold(shape(query), |hash, index| mix(hash, index.name.as_bytes()));
    format!("{hash:08X}")
}

fn shape(query: &Query) -> u32 {
    let mut hash = names(BASIS, &query.filter.to_document());
    for field in query.sort.fields() {
        hash = mix(hash, field.path.as_str().as_bytes());
        hash = mix(hash, if field.direction == Direction::Ascending { b"+" } else { b"-" });
    }
    match &query.projection_spec {
        Some(spec) => mix(hash, spec.as_bytes()),
        None => hash,
    }
}

/// Names of fields and operators; values only where conditions stand in them.
fn names(hash: u32, document: &RawDocument) -> u32 {
    value::elements(document).fold(hash, |hash, element| {
        let hash = mix(hash, element.key.as_bytes());
        match element.value() {
            RawBsonRef::Document(inner) => names(hash, inner),
            RawBsonRef::Array(array) if matches!(element.key, "$and" | "$or" | "$nor") => {
                value::element::array_elements(array).fold(hash, |hash, item| match item.value() {
                    RawBsonRef::Document(inner) => names(hash, inner),
                    _ => hash,
                })
            }
            _ => hash,
        }
    })
}

fn mix(hash: u32, bytes: &[u8]) -> u32 {
    let ended = bytes.iter().chain(&[0]);
    ended.fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(PRIME))
}
