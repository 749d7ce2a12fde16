//! Which components of which index fields have met an array.
//!
//! An index keeps one bit for each component of each of its paths, in order:
//! `{"a.b": 1, c: 1}` has a bit for `a`, for `a.b` and for `c`. What lies past the
//! last bit shares it, which can only make the planner more careful.

use crate::catalog::{Index, IndexField, IndexKind};
use value::Path;

const BITS: usize = 64;

/// The bit of a component of a field.
pub fn bit(fields: &[IndexField], field: usize, component: usize) -> u64 {
    let before: usize = fields.iter().take(field).map(|field| field.path.len()).sum();
    1 << (before + component).min(BITS - 1)
}

/// Whether arrays were met at a component of a field that is no wildcard.
pub fn component(index: &Index, bits: u64, field: usize, component: usize) -> bool {
    bits & bit(&index.fields, field, component) != 0
}

/// Whether arrays were met at a component of a path that a field stands for: its own, or one
/// below a wildcard. There the paths are known one by one, unless there are too many.
pub fn at(index: &Index, bits: u64, field: usize, path: &Path, component: usize) -> bool {
    match index.fields.get(field) {
        Some(of) if of.kind == IndexKind::Wildcard => {
            bits & bit(&index.fields, field, 0) != 0
                || path
                    .prefix(component + 1)
                    .is_some_and(|prefix| index.multikey.met_at(prefix.as_str()))
        }
        _ => self::component(index, bits, field, component),
    }
}

/// The bits of a scan of an index: that of a wildcard says whether arrays were met on the one
/// path that it is used for.
pub fn of_scan(index: &Index, bits: u64, path: Option<&Path>) -> u64 {
    let wildcard = index.fields.iter().position(|field| field.kind == IndexKind::Wildcard);
    let (Some(field), Some(path)) = (wildcard, path) else { return bits };
    match (0..path.len()).any(|component| at(index, bits, field, path, component)) {
        true => bits | bit(&index.fields, field, 0),
        false => bits,
    }
}

/// Whether a document may have several values for a field.
pub fn field(index: &Index, bits: u64, field: usize) -> bool {
    index
        .fields
        .get(field)
        .is_some_and(|of| (0..of.path.len()).any(|at| component(index, bits, field, at)))
}
