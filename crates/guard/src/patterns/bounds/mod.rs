//! Bounds: how long and how heavy arrays and documents may become.
//!
//! What counts is growth. An array that was over its bound before the policy
//! came may stay as it is, and may shrink; it cannot grow further.

mod array;
mod document;
mod names;
mod pattern;
mod statement;
mod undeclared;
mod violation;

pub use array::{Dropped, dropped, grows, trimmed};
pub use document::check as check_size;
use names::check as check_names;
pub(crate) use pattern::{ArrayBounds, SizeBound};
pub use undeclared::{check as check_undeclared, over as undeclared_over};
pub use violation::{total_too_large, total_too_long};

use crate::policy::{ArrayRule, OnLimit, Policy};
use bson::RawDocument;
use error::Result;
use std::borrow::Cow;

/// Keeps the arrays of some rules, and those that no rule names, within bounds: refuses a
/// document, or lets go what is too much. Arrays that overflow are none of this pattern's
/// business.
pub fn enforce<'d, 'p>(
    policy: &'p Policy,
    rules: impl Iterator<Item = &'p ArrayRule>,
    before: Option<&RawDocument>,
    mut after: Cow<'d, RawDocument>,
) -> Result<Cow<'d, RawDocument>> {
    for rule in rules {
        match rule.on_limit {
            OnLimit::Overflow(_) => {}
            OnLimit::Reject => array::check(rule, before, &after)?,
            OnLimit::DropOldest | OnLimit::DropNewest => {
                if let Some(trimmed) = array::trim(rule, before, &after) {
                    after = Cow::Owned(trimmed);
                }
            }
        }
    }
    undeclared::check(policy, before, &after)?;
    Ok(after)
}
