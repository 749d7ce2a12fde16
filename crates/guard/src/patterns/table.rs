//! The patterns, one row each.

use super::bounds::{ArrayBounds, SizeBound};
use super::overflow::Outlier;
use super::pattern::Pattern;
#[cfg(feature = "test_patterns")]
use super::stamp::Stamp;
use crate::policy::Policy;
use crate::provision::Provider;
use write::Transaction;

macro_rules! patterns {
    ($($(#[$condition:meta])? $pattern:ident,)*) => {
        fn all<'t, T: Transaction + 't>() -> &'t [&'t dyn Pattern<T>] {
            &[$($(#[$condition])? &$pattern),*]
        }

        /// What policies need, pattern by pattern.
        pub fn providers() -> impl Iterator<Item = &'static dyn Provider> {
            let all: &[&dyn Provider] = &[$($(#[$condition])? &$pattern),*];
            all.iter().copied()
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
