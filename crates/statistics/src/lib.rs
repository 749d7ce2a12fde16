//! Figures of growth: how sizes are spread (`Histogram`), which are the largest
//! (`Largest`), how fast something grows and when it gets where (`Trend`).
//!
//! Pure: no IO, no clock, no documents. Each is kept up as values come and go, at a
//! cost that does not depend on how many there are, and tells the same as counting
//! everything anew would; `tests` compares the two.

mod bytes;
mod histogram;
mod largest;
mod scale;
mod trend;

pub use bytes::{read_number, write_number};
pub use histogram::{Histogram, Range};
pub use largest::{Kept, Largest, Place};
pub use trend::{DAY_MS, Trend, reached};

#[cfg(test)]
mod tests;
