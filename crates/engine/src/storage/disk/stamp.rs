//! The stamp that every batch carries as a row of its own.
//!
//! ```text
//! 0   number   u64      batches are numbered one after the other
//! 8   synced   u64      the last batch that was synced when this one was written
//! 16  floor    u64      the batch's sequence number in the journal is not below this
//! 24  previous 3 × u64  for every tree, the floor of the last batch before this one that
//!                       changed it, or 0 where that is not known
//! ```
//!
//! A gap in the numbers is a missing batch, and `synced` says whether it had been
//! promised. `floor` guards the sequence number, which stands in the
//! journal outside of the batch's checksum. `previous` says what the tables must hold where
//! a journal begins with this batch: a journal goes once they hold all of it. For that
//! every batch leaves a row in each tree that it changes, which is never removed: the last
//! sequence number in a tree's tables never falls below the last batch that is in them.
//!
//! Batches of earlier formats have no `previous`, and leave a row in one tree alone.

/// How far other uses of sequence numbers may carry them past the floor before the
/// batch takes its own.
const DRIFT_MAX: u64 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchStamp {
    pub number: u64,
    pub synced: u64,
    pub floor: u64,
    pub previous: [u64; 3],
}

impl BatchStamp {
    const BYTES: usize = 48;
    const EARLIER_BYTES: usize = 24;

    pub fn write(self) -> [u8; BatchStamp::BYTES] {
        let [records, entries, large] = self.previous;
        let numbers = [self.number, self.synced, self.floor, records, entries, large];
        let mut bytes = [0; BatchStamp::BYTES];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    pub fn read(bytes: &[u8]) -> Option<BatchStamp> {
        if !matches!(bytes.len(), BatchStamp::BYTES | BatchStamp::EARLIER_BYTES) {
            return None;
        }
        let number = |at: usize| {
            let bytes = bytes.get(at * 8..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        let previous = [number(3), number(4), number(5)];
        Some(BatchStamp { number: number(0), synced: number(1), floor: number(2), previous })
    }

    /// Whether a row that a batch has left is of this format: whole, or empty beside a whole one.
    pub fn is_of_this_format(row: &[u8]) -> bool {
        row.is_empty() || row.len() == BatchStamp::BYTES
    }

    /// Whether a batch with this stamp may have this sequence number.
    pub fn allows(&self, sequence: u64) -> bool {
        (self.floor..=self.floor.saturating_add(DRIFT_MAX)).contains(&sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_both_formats_are_read() {
        let stamp = BatchStamp { number: 1, synced: 2, floor: 3, previous: [4, 5, 6] };
        let bytes = stamp.write();
        assert_eq!(BatchStamp::read(&bytes), Some(stamp));
        let earlier = BatchStamp { previous: [0; 3], ..stamp };
        assert_eq!(BatchStamp::read(&bytes[..24]), Some(earlier));
        assert_eq!(BatchStamp::read(&bytes[..25]), None);
        assert_eq!(BatchStamp::read(&[]), None);
    }
}
