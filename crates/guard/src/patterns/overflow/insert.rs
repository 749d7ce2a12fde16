//! New documents that hold more than they may keep, or say what only the policy does.

use super::{Seen, Work};
use crate::patterns::fields::{self, Edits};
use crate::patterns::place::id;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use error::Result;
use smallvec::SmallVec;
use std::borrow::Cow;
use value::wide;
use write::{Counted, CountedArrays, Inserted, Transaction};

/// Arrays by their numbers; mostly one or two.
type Met<'p, 'd> = SmallVec<[(usize, &'p Overflow, Seen<'d>); 2]>;

/// Puts what a new document holds over the bounds in pages, and counts what overflows.
pub async fn insert<'d, T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    document: Cow<'d, RawDocument>,
) -> Result<Inserted<'d>> {
    let mut edits = Edits::new();
    let mut counted = CountedArrays::new();
    for (at, rule, seen) in seen(policy, &document) {
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

/// The arrays that overflow, and what the document shows of each.
fn seen<'p, 'd>(policy: &'p Policy, document: &'d RawDocument) -> Met<'p, 'd> {
    let _entered = wide::enter(document);
    let rules = policy.arrays.iter().enumerate();
    rules
        .filter_map(|(at, rule)| match &rule.on_limit {
            OnLimit::Overflow(rule) => Some((at, &**rule, Seen::of(document, rule))),
            _ => None,
        })
        .collect()
}
