//! Which components of which index fields have met an array.
//!
//! An index keeps one bit for each component of each of its paths, in order:
//! `{"a.b": 1, c: 1}` has a bit for `a`, for `a.b` and for `c`. What lies past the
//! last bit shares it, which can only make the planner more careful.

use crate::catalog::{Index, IndexField, IndexKind};

const BITS: usize = 64;

/// The bit of a component of a field.
pub fn bit(fields: &[IndexField], field: usize, component: usize) -> u64 {
    let before: usize = fields.iter().take(field).map(|field| field.path.len()).sum();
    1 << (before + component).min(BITS - 1)
}

/// Whether arrays were met at a component of a field. Of a wildcard it is only known
/// whether one was met anywhere below it.
pub fn component(index: &Index, bits: u64, field: usize, component: usize) -> bool {
    match index.fields.get(field) {
        Some(of) if of.kind == IndexKind::Wildcard => bits & bit(&index.fields, field, 0) != 0,
        _ => bits & bit(&index.fields, field, component) != 0,
    }
}

/// Whether a document may have several values for a field.
pub fn field(index: &Index, bits: u64, field: usize) -> bool {
    index
        .fields
        .get(field)
        .is_some_and(|of| (0..of.path.len()).any(|at| component(index, bits, field, at)))
}
