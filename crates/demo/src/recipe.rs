//! What is made, and how much of it.

use bson::DateTime;

/// 2026-04-15T10:00:00Z.
pub const NOW_DEFAULT: DateTime = DateTime::from_millis(1_776_247_200_000);
pub const SEED_DEFAULT: u64 = 1;
pub const SIZE_DEFAULT: u64 = 1_000;
/// Below this some collections of a scenario would be empty.
pub const SIZE_MIN: u64 = 10;
pub const SIZE_MAX: u64 = 1_000_000_000;

/// The same recipe makes the same documents, to the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    pub seed: u64,
    /// How many documents a scenario has, all its collections together.
    pub size: u64,
    /// The moment that the data ends at: nothing in it is younger.
    pub now: DateTime,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe { seed: SEED_DEFAULT, size: SIZE_DEFAULT, now: NOW_DEFAULT }
    }
}

impl Recipe {
    /// The usual moment, with so many documents of this seed.
    pub fn new(seed: u64, size: u64) -> Recipe {
        Recipe { seed, size, ..Recipe::default() }
    }

    /// This part of the size, and at least one document.
    pub(crate) fn share(&self, part: u64, of: u64) -> u64 {
        (self.size / of * part + self.size % of * part / of).max(1)
    }
}
