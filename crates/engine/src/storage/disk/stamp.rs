//! The stamp that every batch carries as a row of its own.
//!
//! ```text
//! 0   number  u64   batches are numbered one after the other
//! 8   synced  u64   the last batch that was synced when this one was written
//! 16  floor   u64   the batch's sequence number in the journal is not below this
//! ```
//!
//! The numbers tell whether a batch is missing. `synced` tells whether what is
//! missing had been promised. `floor` guards the sequence number, which stands in the
//! journal outside of the batch's checksum.

/// How far other uses of sequence numbers may carry them past the floor before the
/// batch takes its own.
const DRIFT_MAX: u64 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub number: u64,
    pub synced: u64,
    pub floor: u64,
}

impl Stamp {
    pub const BYTES: usize = 24;

    pub fn write(self) -> [u8; Stamp::BYTES] {
        let mut bytes = [0; Stamp::BYTES];
        bytes[..8].copy_from_slice(&self.number.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.synced.to_be_bytes());
        bytes[16..].copy_from_slice(&self.floor.to_be_bytes());
        bytes
    }

    pub fn read(bytes: &[u8]) -> Option<Stamp> {
        let bytes: &[u8; Stamp::BYTES] = bytes.try_into().ok()?;
        let (number, rest) = bytes.split_first_chunk()?;
        let (synced, rest) = rest.split_first_chunk()?;
        Some(Stamp {
            number: u64::from_be_bytes(*number),
            synced: u64::from_be_bytes(*synced),
            floor: u64::from_be_bytes(*rest.first_chunk()?),
        })
    }

    /// Whether a batch with this stamp may have this sequence number.
    pub fn allows(&self, sequence: u64) -> bool {
        (self.floor..=self.floor.saturating_add(DRIFT_MAX)).contains(&sequence)
    }
}
