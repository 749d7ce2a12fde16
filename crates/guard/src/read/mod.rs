//! What a read shows of arrays that overflow: their head, or, with `$slice` or
//! `read: merged`, elements from the pages as well.

mod change;
mod completion;
mod fit;
mod plan;
mod show;
mod transaction;

pub(crate) use change::Moved;
pub use change::{appended, compared, looked_at, whole};
pub use completion::Completion;
pub use fit::{can_fit, fit};
pub use plan::ReadPlan;
pub use show::{Pages, SEEN_BYTES_MAX, TakePage, show, with_part};
pub use transaction::{matches, refuse_head, shown};

/// Which elements of an array are shown.
#[derive(Debug, Clone)]
pub enum Show {
    Whole,
    Slice(language::projection::Slice),
    /// So much that who looks at no more than this sees no difference. Where the length
    /// counts, null stands for each element that is not looked at.
    Part(language::Extent),
}
