//! The patterns, one row each.

use super::bounds::{ArrayBounds, SizeBound};
use super::declaration::Declaration;
use super::overflow::Outlier;
use super::pattern::Pattern;
#[cfg(feature = "test_patterns")]
use super::stamp::Stamp;
use crate::policy::Policy;
use write::Transaction;

macro_rules! patterns {
    ($($(#[$condition:meta])? $pattern:ident,)*) => {
        fn all<'t, T: Transaction + 't>() -> &'t [&'t dyn Pattern<T>] {
            &[$($(#[$condition])? &$pattern),*]
        }

        fn all_declarations() -> &'static [&'static dyn Declaration] {
            &[$($(#[$condition])? &$pattern),*]
        }
    };
}

// In the order in which they take part in a write: what is refused is refused before elements
// leave the document, and the document is weighed at the end.
patterns! {
    ArrayBounds,
    Outlier,
    #[cfg(feature = "test_patterns")]
    Stamp,
    SizeBound,
}

/// Those that a policy has something to do for.
pub fn of<'t, T: Transaction + 't>(
    policy: &Policy,
) -> impl Iterator<Item = &'t dyn Pattern<T>> + Send {
    all().iter().copied().filter(|pattern| pattern.takes_part(policy))
}

/// The same, apart from any transaction.
pub fn declarations(policy: &Policy) -> impl Iterator<Item = &'static dyn Declaration> {
    all_declarations().iter().copied().filter(|pattern| pattern.takes_part(policy))
}
