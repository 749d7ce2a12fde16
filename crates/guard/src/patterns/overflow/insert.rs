//! New documents that hold more than they may keep, or say what only the policy does.

use super::{Seen, Work};
use crate::patterns::fields::{self, Edits};
use crate::patterns::place::id;
use crate::policy::{OnLimit, Policy};
use bson::RawDocument;
use error::Result;
use std::borrow::Cow;
use write::{Counted, CountedArrays, Inserted, Transaction};

/// Puts what a new document holds over the bounds in pages, and counts what overflows.
pub async fn insert<'d, T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    document: Cow<'d, RawDocument>,
) -> Result<Inserted<'d>> {
    let mut edits = Edits::new();
    let mut counted = CountedArrays::new();
    for (at, rule) in policy.arrays.iter().enumerate() {
        let OnLimit::Overflow(rule) = &rule.on_limit else { continue };
        let seen = Seen::of(&document, rule);
        let mut work = Work { policy, rule, transaction, parent: id(&document) };
        if let Some(done) = work.settle_new(&document, &seen).await? {
            counted.push(Counted { rule: at, before: None, after: done.counters.length() });
            done.write(rule, &seen, &mut edits);
        }
    }
    let document = match document {
        document if edits.is_empty() => document,
        Cow::Borrowed(document) => Cow::Owned(fields::edit(document, &edits)?),
        Cow::Owned(document) => Cow::Owned(fields::edit_own(document, &edits)?),
    };
    Ok(Inserted { document, counted })
}
