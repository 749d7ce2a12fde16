//! What documents and pages say of themselves, compared with what is there.
//!
//! `Check` walks a collection and its pages in one snapshot; `Sequence` judges one array. What
//! differs is a `Drift`, and `Check::repair` mends those that can be mended without losing
//! anything.

mod check;
mod drift;
mod repair;
mod sequence;
mod shown;

pub use check::{Check, Report};
pub use drift::{Drift, DriftKind, Remedy};
pub use repair::Repairing;
pub use sequence::Sequence;
pub(crate) use shown::{append_count, append_failed, append_over};
pub use shown::{append_id, shown_id};
