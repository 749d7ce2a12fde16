//! BSON comparison order across all types.

use crate::Collator;
use bson::RawBsonRef;
use std::cmp::Ordering;

pub fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    compare_with(a, b, None)
}

pub fn compare_with(a: RawBsonRef<'_>, b: RawBsonRef<'_>, collator: Option<&Collator>) -> Ordering {
    let _ = (a, b, collator);
    todo!()
}

/// The rank of a value's type class: MinKey first, MaxKey last, all numbers one
/// class, string and symbol one class.
pub fn class(value: RawBsonRef<'_>) -> u8 {
    let _ = value;
    todo!()
}
