//! How fast the other side must give or take bytes. What it is slow with stays in memory
//! meanwhile, so that a byte now and then is not enough.

use crate::limits::TRANSFER_BYTES_PER_SECOND_MIN;
use std::time::Duration;
use tokio::time::Instant;

/// One message or reply on its way.
#[derive(Debug)]
pub(crate) struct Pace {
    begun: Instant,
    /// When bytes moved last.
    moved: Instant,
    bytes: u64,
    /// How long none may move.
    stall_max: Duration,
}

impl Pace {
    pub fn begin(stall_max: Duration) -> Pace {
        let begun = Instant::now();
        Pace { begun, moved: begun, bytes: 0, stall_max }
    }

    /// Takes note of bytes that have moved.
    pub fn advance(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.moved = Instant::now();
    }

    /// When the other side is too slow, unless more bytes move before.
    pub fn deadline(&self) -> Instant {
        let fair = Duration::from_secs(self.bytes / TRANSFER_BYTES_PER_SECOND_MIN);
        (self.begun + fair).min(self.moved) + self.stall_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_moves_with_the_bytes() {
        let stall_max = Duration::from_secs(60);
        let begun = Instant::now();
        let after = |seconds, bytes| {
            let moved = begun + Duration::from_secs(seconds);
            Pace { begun, moved, bytes, stall_max }.deadline() - begun
        };
        assert_eq!(after(0, 0), stall_max);
        // A byte a second wins no time.
        assert_eq!(after(59, 59), stall_max);
        // Twice the least rate is waited for as long as it holds.
        assert_eq!(
            after(59, 118 * TRANSFER_BYTES_PER_SECOND_MIN),
            stall_max * 2 - Duration::from_secs(1)
        );
        // What was fast before is not waited for longer than anything else.
        assert_eq!(after(1, 48_000_000), stall_max + Duration::from_secs(1));
    }
}
