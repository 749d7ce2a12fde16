//! New documents.

use super::{Done, Head, Work};
use crate::patterns::fields::{self, Edit, Edits};
use crate::patterns::place::id;
use crate::patterns::sight::{Shown, Sight};
use crate::policy::{OnLimit, Overflow, Policy};
use bson::RawDocument;
use error::Result;
use std::borrow::Cow;
use write::{Counted, CountedArrays, Inserted, Length, Transaction};

/// Puts what a new document holds over the bounds in pages; what is to change in the
/// document itself.
pub async fn insert<'p, T: Transaction>(
    policy: &'p Policy,
    transaction: &mut T,
    sight: &Sight<'_>,
) -> Result<Fitted<'p>> {
    let document = sight.document();
    let mut fitted = Fitted { edits: Edits::new(), add: true, counted: CountedArrays::new() };
    for (at, (rule, shown)) in sight.rules(&policy.arrays).enumerate() {
        let OnLimit::Overflow(rule) = &rule.on_limit else {
            // On a path through arrays there may be some that are not seen at a glance.
            shown.length().into_iter().for_each(|length| fitted.count(at, Some(length)));
            continue;
        };
        let done = match fitting(rule, shown) {
            Some(done) => Some(done),
            None => {
                let mut work = Work { policy, rule, transaction, parent: id(document) };
                work.settle_new(document, shown).await?
            }
        };
        if let Some(done) = done {
            fitted.count(at, done.counters.length());
            fitted.add &= !matches!(done.head, Head::Becomes(_))
                && shown.seen.fields().iter().all(Option::is_none);
            done.write(rule, &shown.seen, &mut fitted.edits);
        }
    }
    Ok(fitted)
}

/// What becomes of an array that the document keeps whole, as most do.
fn fitting(rule: &Overflow, shown: &Shown<'_>) -> Option<Done> {
    if rule.path.len() > 1 {
        return None;
    }
    let (Some(found), Some(len)) = (shown.seen.array, shown.len) else {
        return Some(Done::default());
    };
    rule.head.hold(len, found.bytes.len()).then(|| Done::whole(len))
}

/// What is to change in a new document, so that it fits its policy.
pub struct Fitted<'p> {
    edits: Edits<'p>,
    /// Whether they do nothing but add fields.
    add: bool,
    /// Its arrays, as they will be.
    counted: CountedArrays,
}

impl Fitted<'_> {
    fn count(&mut self, rule: usize, after: Option<Length>) {
        self.counted.push(Counted { rule, before: None, after });
    }

    pub fn apply<'d>(self, document: Cow<'d, RawDocument>) -> Result<Inserted<'d>> {
        let counted = self.counted;
        let shallow = |edit: &Edit<'_>| edit.0.len() == 1;
        let edited = match document {
            document if self.edits.is_empty() => return Ok(Inserted { document, counted }),
            document if self.add && self.edits.iter().all(shallow) => {
                fields::add(&document, &self.edits)
            }
            Cow::Borrowed(document) => fields::edit(document, &self.edits),
            Cow::Owned(document) => fields::edit_own(document, &self.edits),
        };
        Ok(Inserted { document: Cow::Owned(edited?), counted })
    }
}
