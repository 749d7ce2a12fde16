//! The records that a stage has given, so that none is given twice.

use crate::storage::RecordId;
use budget::{Held, Kind};
use error::Result;
use rustc_hash::FxHashSet;

/// What a record takes once a full table has doubled.
const RECORD_BYTES: usize = 3 * size_of::<RecordId>();

pub struct SeenRecords {
    records: FxHashSet<RecordId>,
    /// What the table takes of the budget, which it is asked for before it grows.
    memory: Held,
}

impl SeenRecords {
    pub fn new() -> SeenRecords {
        SeenRecords { records: FxHashSet::default(), memory: Held::new(Kind::Work) }
    }

    /// Adds a record; false if it was seen before.
    #[inline]
    pub fn insert(&mut self, record: RecordId) -> Result<bool> {
        if self.records.len() == self.records.capacity() {
            self.memory.resize(self.records.capacity() * RECORD_BYTES)?;
        }
        Ok(self.records.insert(record))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_seen_is_counted() {
        let mut seen = SeenRecords::new();
        for record in (0..100).chain(0..100) {
            seen.insert(RecordId(record)).unwrap();
        }
        assert_eq!(seen.records.len(), 100);
        assert_eq!(seen.memory.bytes(), 0, "little costs nothing");
        for record in 0..100_000 {
            assert_eq!(seen.insert(RecordId(record)).unwrap(), record >= 100);
        }
        assert!(seen.memory.bytes() > 100_000 * size_of::<RecordId>() as u64);
    }
}
