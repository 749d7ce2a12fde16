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

/// What is to change in a new document that keeps its arrays whole, as most do.
pub fn insert_at_once<'p>(policy: &'p Policy, sight: &Sight<'_>) -> Option<Fitted<'p>> {
    let mut fitted = Fitted::default();
    for (at, (rule, shown)) in sight.rules(&policy.arrays).enumerate() {
        match &rule.on_limit {
            OnLimit::Overflow(rule) => fitted.add(at, rule, shown, fitting(rule, shown)?),
            _ => fitted.count_seen(at, shown),
        }
    }
    Some(fitted)
}

/// Puts what a new document holds over the bounds in pages; what is to change in the
/// document itself.
pub async fn insert<'p, T: Transaction>(
    policy: &'p Policy,
    transaction: &mut T,
    sight: &Sight<'_>,
) -> Result<Fitted<'p>> {
    let document = sight.document();
    let mut fitted = Fitted::default();
    for (at, (rule, shown)) in sight.rules(&policy.arrays).enumerate() {
        let OnLimit::Overflow(rule) = &rule.on_limit else {
            fitted.count_seen(at, shown);
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
            fitted.add(at, rule, shown, done);
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
#[derive(Default)]
pub struct Fitted<'p> {
    edits: Edits<'p>,
    /// Whether they do more than add fields.
    alters: bool,
    /// Its arrays, as they will be.
    counted: CountedArrays,
}

impl<'p> Fitted<'p> {
    /// Takes in what becomes of an array that overflows.
    fn add(&mut self, at: usize, rule: &'p Overflow, shown: &Shown<'_>, done: Done) {
        self.count(at, done.counters.length());
        self.alters |= matches!(done.head, Head::Becomes(_))
            || shown.seen.fields().iter().any(Option::is_some);
        done.write(rule, &shown.seen, &mut self.edits);
    }

    /// Counts one that does not, and that is seen at a glance: on a path through arrays there
    /// may be more.
    fn count_seen(&mut self, at: usize, shown: &Shown<'_>) {
        shown.length().into_iter().for_each(|length| self.count(at, Some(length)));
    }

    fn count(&mut self, rule: usize, after: Option<Length>) {
        self.counted.push(Counted { rule, before: None, after });
    }

    pub fn apply<'d>(self, document: Cow<'d, RawDocument>) -> Result<Inserted<'d>> {
        let counted = self.counted;
        let shallow = |edit: &Edit<'_>| edit.0.len() == 1;
        let edited = match document {
            document if self.edits.is_empty() => return Ok(Inserted { document, counted }),
            document if !self.alters && self.edits.iter().all(shallow) => {
                fields::add(&document, &self.edits)
            }
            Cow::Borrowed(document) => fields::edit(document, &self.edits),
            Cow::Owned(document) => fields::edit_own(document, &self.edits),
        };
        Ok(Inserted { document: Cow::Owned(edited?), counted })
    }
}
