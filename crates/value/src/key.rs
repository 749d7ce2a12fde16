//! Keys that sort by bytes exactly as BSON sorts.
//!
//! Values that compare equal encode to the same bytes (1, 1.0 and 1 as int64),
//! so a key alone cannot say which type it came from. `Types` holds what the
//! bytes lose; it is empty for the commonest types.

use crate::Collator;
use bson::{RawBson, RawBsonRef};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// An encoded compound key under construction.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub bytes: Vec<u8>,
    /// What the bytes lose, in order; empty when nothing is lost.
    pub types: Vec<u8>,
}

impl Key {
    /// Appends one value. Each value's bytes are prefix-free, so compound keys
    /// compare field by field and descending is the bytes inverted.
    pub fn push(
        &mut self,
        value: RawBsonRef<'_>,
        direction: Direction,
        collator: Option<&Collator>,
    ) {
        let _ = (value, direction, collator);
        todo!()
    }
}

/// Reads the values of a key back, exactly. Not for keys made with a collator.
pub fn decode(bytes: &[u8], types: &[u8], directions: &[Direction]) -> Option<Vec<RawBson>> {
    let _ = (bytes, types, directions);
    todo!()
}
