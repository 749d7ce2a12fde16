//! Bounds: how long and how heavy arrays and documents may become.
//!
//! What counts is growth. An array that was over its bound before the policy
//! came may stay as it is, and may shrink; it cannot grow further.

mod array;
mod document;
mod undeclared;
mod violation;

pub use array::{Dropped, dropped, grows, trimmed};
pub use document::check as check_size;
pub use undeclared::{check as check_undeclared, over as undeclared_over};

use crate::patterns::sight::Sight;
use crate::policy::{OnLimit, Policy};
use bson::RawDocument;
use error::Result;
use std::borrow::Cow;

/// Whether the arrays of a new document are within bounds, as far as that can be told
/// at a glance.
pub fn hold(policy: &Policy, sight: &Sight<'_>) -> bool {
    sight.rules(&policy.arrays).all(|(rule, shown)| match (&rule.on_limit, shown.seen.array) {
        (OnLimit::Overflow(_), _) => true,
        _ if rule.path.len() > 1 => false,
        (_, Some(array)) => shown.len.is_none_or(|len| rule.bounds.hold(len, array.bytes.len())),
        (_, None) => true,
    })
}

/// Keeps the arrays of a document within bounds: refuses it, or lets go what is
/// too much. Arrays that overflow are none of this pattern's business.
pub fn enforce<'d>(
    policy: &Policy,
    before: Option<&RawDocument>,
    mut after: Cow<'d, RawDocument>,
) -> Result<Cow<'d, RawDocument>> {
    for rule in &policy.arrays {
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
