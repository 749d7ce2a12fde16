//! The patterns: what policies make of writes, one module each.
//!
//! A pattern reaches documents only through `write::Transaction`, so it works
//! wherever they are kept.

pub mod bounds;
pub(crate) mod fields;
pub mod overflow;
pub mod place;

use crate::policy::{Policy, Undeclared};
use bson::RawDocument;

/// Whether a document that is there already is over some bound of a policy.
pub fn is_oversize(policy: &Policy, document: &RawDocument, bytes: usize) -> bool {
    policy.document.max_bytes.is_some_and(|max| bytes > max)
        || policy.arrays.iter().any(|rule| {
            let arrays = place::arrays(document, &rule.path);
            let len = |array: &value::Element<'_>| array.children().items().count();
            arrays.iter().any(|array| !rule.bounds.hold(len(array), array.bytes.len()))
        })
        || policy.undeclared != Undeclared::Allow
            && bounds::check_undeclared(policy, None, document).is_err()
}
