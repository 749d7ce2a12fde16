//! What a read shows of arrays that overflow: their head, or, with `$slice` or
//! `read: merged`, elements from the pages as well.

mod completion;
mod plan;
mod show;
mod transaction;

pub use completion::Completion;
pub use plan::ReadPlan;
pub use show::{Pages, SEEN_BYTES_MAX, TakePage, show};
pub use transaction::{matches, shown};

/// Which elements of an array are shown.
#[derive(Debug, Clone)]
pub enum Show {
    Whole,
    Slice(language::projection::Slice),
}
