//! Updates of documents whose arrays have no pages; `change` has the others.

use super::change::Change;
use super::settle::Settled;
use super::{Counters, Seen, Work, load};
use crate::guarded;
use crate::patterns::bounds;
use crate::patterns::fields::{self, Edit, Edits, Overwrite};
use crate::patterns::place::id;
use crate::policy::{OnLimit, Overflow, Policy};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::update::Update;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;
use value::Element;
use write::{Applied, Counted, CountedArrays, Length, Outcome, Transaction};

/// Applies an update to a document that keeps its arrays whole, as most do; `None` if that
/// takes more than the document. What an asynchronous function keeps stands in the memory of
/// its task, which is cold; this one has the stack.
pub fn update_at_once<R: Deref<Target = RawDocument>>(
    policy: &Policy,
    row: &R,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Option<Outcome>> {
    let plan = &applied.plan.overflow;
    let rules: SmallVec<[Met<'_>; 2]> = Met::all(policy, row).collect();
    let is_ready = match plan.is_elsewhere() {
        true => rules.iter().all(Met::is_settled),
        false => {
            rules.iter().all(Met::is_simple)
                && missing(&rules, applied.update, applied.loaded).is_empty()
        }
    };
    if !is_ready {
        return Ok(None);
    }
    let Some(after) = applied.update.apply(row, applied.matched)? else {
        return Ok(Some(Outcome::default()));
    };
    let after = within_bounds(policy, applied, row, after)?;
    let mut edits = Edits::new();
    let mut places = SmallVec::<[Overwrite; 2]>::new();
    let mut counted = CountedArrays::new();
    for met in &rules {
        if plan.is_elsewhere() {
            met.count(met.counters, &mut counted);
            continue;
        }
        let rule = met.rule;
        let now = plan.seen(met, row, &after);
        let settled = Settled { row, was: &met.was, base: row, after: &after, now: &now };
        let Some(done) = settled.at_once(rule) else { return Ok(None) };
        met.count(done.counters, &mut counted);
        match done.counters.overwrite(&after, &now) {
            Some(place) => places.push(place),
            None => done.write(rule, &now, &mut edits),
        }
    }
    finished(row, after, &places, &edits, counted).map(Some)
}

/// Applies an update to a document, its pages included.
pub async fn update<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Outcome> {
    let mut rules: Vec<Met<'_>> = Met::all(policy, row).collect();
    for met in rules.iter_mut().filter(|met| met.paged && !met.rule.counted) {
        // What says that there are pages may be older than the policy.
        let mut work = Work { policy, rule: met.rule, transaction, parent: id(row) };
        met.paged = work.end_page(true).await?.is_some();
    }
    if rules.iter().any(|met| met.paged) {
        let taken = applied.plan.overflow.taken_apart(policy, applied.update);
        let change = Change { policy, rules: &rules, taken, row, applied };
        return change.with_pages(transaction).await;
    }
    // Arrays like any other, so far.
    let missing = missing(&rules, applied.update, applied.loaded);
    let loaded = match missing.is_empty() {
        true => None,
        false => Some(load(transaction, row, applied.loaded, &missing).await?),
    };
    let base: &RawDocument = loaded.as_deref().unwrap_or(row);
    let Some(after) = applied.update.apply(base, applied.matched)? else {
        return Ok(Outcome::default());
    };
    let after = within_bounds(policy, applied, base, after)?;
    let mut edits = Edits::new();
    let mut counted = CountedArrays::new();
    for met in &rules {
        let rule = met.rule;
        let now = applied.plan.overflow.seen(met, base, &after);
        let settled = Settled { row, was: &met.was, base, after: &after, now: &now };
        let done = match settled.at_once(rule) {
            Some(done) => done,
            None => {
                let mut work = Work { policy, rule, transaction, parent: id(row) };
                work.settle(&settled).await?
            }
        };
        met.count(done.counters, &mut counted);
        done.write(rule, &now, &mut edits);
    }
    finished(base, after, &[], &edits, counted)
}

/// The document with its counters as they ought to be.
fn finished(
    before: &RawDocument,
    mut after: RawDocumentBuf,
    places: &[Overwrite],
    edits: &[Edit<'_>],
    counted: CountedArrays,
) -> Result<Outcome> {
    if places.is_empty() && edits.is_empty() {
        return Ok(Outcome { after: Some(after), elsewhere: false, counted });
    }
    if !places.is_empty() {
        after = fields::overwrite(after, places)?;
    }
    if !edits.is_empty() {
        after = fields::edit_own(after, edits)?;
    }
    // What the update wrote may be no more than counters that the server knows better.
    let changed = after.as_bytes() != before.as_bytes();
    Ok(Outcome { after: changed.then_some(after), elsewhere: false, counted })
}

/// An array that an update meets.
#[derive(Clone, Copy)]
pub struct Met<'a> {
    /// Which array of the policy it is.
    pub at: usize,
    pub rule: &'a Arc<Overflow>,
    /// What the row shows of it, and says.
    pub was: Seen<'a>,
    counters: Counters,
    /// Whether it has pages.
    pub paged: bool,
}

impl<'a> Met<'a> {
    /// The arrays of a document that overflow.
    fn all(policy: &'a Policy, row: &'a RawDocument) -> impl Iterator<Item = Met<'a>> {
        policy.arrays.iter().enumerate().filter_map(move |(at, rule)| {
            let OnLimit::Overflow(rule) = &rule.on_limit else { return None };
            let was = Seen::of(row, rule);
            let counters = was.counters();
            Some(Met { at, rule, was, counters, paged: counters.pages > 0 })
        })
    }

    /// Whether there is nothing to do while the array stays as it is: it has been
    /// counted, and the document says so in the right words.
    fn is_settled(&self) -> bool {
        let counters = self.counters;
        let is_counted = counters.count.is_some() == self.was.array.is_some();
        self.rule.counted && is_counted && counters.are_said(&self.was)
    }

    /// Whether nothing but the document tells of the array, and that in one field.
    fn is_simple(&self) -> bool {
        !self.paged && self.rule.counted && self.rule.path.len() == 1
    }

    /// Adds how long the array was and is, if the document has told how long it was.
    pub fn count(&self, after: Counters, counted: &mut CountedArrays) {
        if let Some(before) = self.told() {
            counted.push(Counted { rule: self.at, before, after: after.length() });
        }
    }

    /// How long the array was, or that there was none; the outer `None` where one would
    /// have to look at it. A count beside no array says nothing.
    fn told(&self) -> Option<Option<Length>> {
        let is_array = |found: Element<'_>| found.kind == ElementType::Array;
        match self.counters.length() {
            Some(length) if self.paged || self.was.array.is_some_and(is_array) => {
                Some(Some(length))
            }
            _ if self.was.array.is_none() && self.counters.pages == 0 => Some(None),
            _ => None,
        }
    }
}

/// The arrays that parts of an update are about and that are not loaded.
pub fn missing<'r>(rules: &[Met<'r>], update: &Update, loaded: &Needs) -> Vec<&'r Overflow> {
    let is_missing = |met: &&Met<'_>| {
        let path = &met.rule.path;
        met.was.array.is_some_and(|found| found.kind != ElementType::Array)
            && !loaded.contains(path)
            && update.has_part(path)
    };
    rules.iter().filter(is_missing).map(|met| &**met.rule).collect()
}

/// The other bounds of the policy, kept before elements leave the document.
pub fn within_bounds(
    policy: &Policy,
    applied: &Applied<'_, guarded::Plan>,
    before: &RawDocument,
    after: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    match applied.plan.bounds {
        true => Ok(bounds::enforce(policy, Some(before), Cow::Owned(after))?.into_owned()),
        false => Ok(after),
    }
}
