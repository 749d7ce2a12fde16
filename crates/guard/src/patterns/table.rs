//! The patterns, one row each.

use super::bounds::{ArrayBounds, SizeBound};
use super::overflow::Outlier;
use super::pattern::Pattern;
use crate::policy::Policy;
use write::Transaction;

/// All of them, in the order in which they take part in a write: what is refused is refused
/// before elements leave the document, and the document is weighed at the end.
fn all<'t, T: Transaction + 't>() -> &'t [&'t dyn Pattern<T>] {
    &[
        &ArrayBounds,
        &Outlier,
        #[cfg(feature = "test_patterns")]
        &super::stamp::Stamp,
        &SizeBound,
    ]
}

/// Those that a policy has something to do for.
pub fn of<'t, T: Transaction + 't>(
    policy: &Policy,
) -> impl Iterator<Item = &'t dyn Pattern<T>> + Send {
    all().iter().copied().filter(|pattern| pattern.takes_part(policy))
}
