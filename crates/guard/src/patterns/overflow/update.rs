//! Updates of documents whose arrays have no pages; `change` has the others.

use super::change::Change;
use super::push::push_at_once;
use super::settle::Settled;
use super::{Counters, Done, Seen, Work, load};
use crate::guarded::{self, Reach};
use crate::patterns::bounds;
use crate::patterns::fields::{self, Edits};
use crate::patterns::place::{self, id};
use crate::policy::{OnLimit, Overflow, Policy};
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::update::Update;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;
use value::{Element, wide};
use write::{Applied, Counted, CountedArrays, Length, Outcome, Transaction};

/// Applies an update to a document that keeps its arrays whole, as most do; `None` if that
/// takes more than the document. What an asynchronous function keeps stands in the memory of
/// its task, which is cold; this one has the stack.
pub fn update_at_once(
    policy: &Policy,
    row: &RawDocument,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Option<Outcome>> {
    if let Some(pushed) = push_at_once(policy, row, applied)? {
        return Ok(Some(pushed));
    }
    let reach = &applied.plan.reach;
    let _entered = wide::enter(row);
    let mut rules = SmallVec::<[Met<'_>; 2]>::new();
    for met in Met::all(policy, reach, row) {
        if !met.is_simple() {
            return Ok(None);
        }
        rules.push(met);
    }
    if missing(&rules, applied.update, applied.loaded).next().is_some() {
        return Ok(None);
    }
    let Some(after) = applied.update.apply(row, applied.matched)? else {
        return Ok(Some(Outcome::default()));
    };
    let after = within_bounds(policy, applied, row, after)?;
    let mut amends = Amends::default();
    let entered = wide::enter(&after);
    for met in &rules {
        let now = met.seen(reach, &after);
        let settled = Settled { row, was: &met.was, base: row, after: &after, now: &now };
        let Some(done) = settled.at_once(met.rule) else { return Ok(None) };
        amends.add(met, done, &now);
    }
    drop(entered);
    let all_counted = amends.counted.len() == rules.len() && reach.is_of(&amends.counted);
    let outcome = amends.make(row, after)?;
    Ok(Some(Outcome { all_counted, ..outcome }))
}

/// Applies an update to a document, its pages included.
pub async fn update<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
    applied: &Applied<'_, guarded::Plan>,
) -> Result<Outcome> {
    let reach = &applied.plan.reach;
    let mut rules: Vec<Met<'_>> = {
        let _entered = wide::enter(row);
        Met::all(policy, reach, row).collect()
    };
    for met in rules.iter_mut().filter(|met| met.paged && !met.rule.counted) {
        // What says that there are pages may be older than the policy.
        let mut work = Work { policy, rule: met.rule, transaction, parent: id(row) };
        met.paged = work.end_page(true).await?.is_some();
    }
    if rules.iter().any(|met| met.paged) {
        let taken = applied.plan.apart.of(policy, applied.update);
        let change = Change { policy, rules: &rules, taken, row, applied };
        return change.with_pages(transaction).await;
    }
    // Arrays like any other, so far.
    let missing: Vec<_> = missing(&rules, applied.update, applied.loaded).collect();
    let loaded = match missing.is_empty() {
        true => None,
        false => Some(load(transaction, row, applied.loaded, &missing).await?),
    };
    let base: &RawDocument = loaded.as_deref().unwrap_or(row);
    let Some(after) = applied.update.apply(base, applied.matched)? else {
        return Ok(Outcome::default());
    };
    let after = within_bounds(policy, applied, base, after)?;
    let mut amends = Amends::default();
    for met in &rules {
        let now = met.seen(reach, &after);
        let settled = Settled { row, was: &met.was, base, after: &after, now: &now };
        let done = match settled.at_once(met.rule) {
            Some(done) => done,
            None => {
                let mut work = Work { policy, rule: met.rule, transaction, parent: id(row) };
                work.settle(row, &settled).await?
            }
        };
        amends.add(met, done, &now);
    }
    amends.make(base, after)
}

/// What is to be changed in an updated document, so that it says of its arrays what is true.
#[derive(Default)]
struct Amends<'r> {
    edits: Edits<'r>,
    counted: CountedArrays,
}

impl<'r> Amends<'r> {
    /// Takes in what became of an array, which `now` shows as the update has left it.
    fn add(&mut self, met: &Met<'r>, done: Done, now: &Seen<'_>) {
        met.count(done.counters, &mut self.counted);
        done.write(met.rule, now, &mut self.edits);
    }

    fn make(self, before: &RawDocument, after: RawDocumentBuf) -> Result<Outcome> {
        let Amends { edits, counted } = self;
        if edits.is_empty() {
            return Ok(Outcome { after: Some(after), counted, ..Outcome::default() });
        }
        let after = fields::edit_own(after, &edits)?;
        // What the update wrote may be no more than counters that the server knows better.
        let changed = after.as_bytes() != before.as_bytes();
        Ok(Outcome { after: changed.then_some(after), counted, ..Outcome::default() })
    }
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
    /// The arrays of a document that overflow. Those that have been counted, and that an update
    /// leaves as they are, have nothing to do with it.
    fn all(
        policy: &'a Policy,
        reach: &Reach,
        row: &'a RawDocument,
    ) -> impl Iterator<Item = Met<'a>> {
        policy.arrays.iter().enumerate().filter_map(move |(at, rule)| {
            let OnLimit::Overflow(rule) = &rule.on_limit else { return None };
            if rule.counted && !reach.may_change(at) && is_settled(row, rule) {
                return None;
            }
            let was = Seen::of(row, rule);
            let counters = was.counters();
            Some(Met { at, rule, was, counters, paged: counters.pages > 0 })
        })
    }

    /// What a document shows of the array after an update.
    fn seen(&self, reach: &Reach, after: &'a RawDocument) -> Seen<'a> {
        match reach.counters {
            true => Seen::of(after, self.rule),
            false => self.was.in_next(after, self.rule),
        }
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

/// Whether a document has nothing to say of an array that stays as it is: it has been counted,
/// or is not there. The first write under a policy counts what there was before.
fn is_settled(row: &RawDocument, rule: &Overflow) -> bool {
    let is_number = |it: Element<'_>| matches!(it.kind, ElementType::Int32 | ElementType::Int64);
    let [array, count] = place::find_all(row, [&rule.path, &rule.count]);
    array.is_some() == count.is_some_and(is_number)
}

/// The arrays that parts of an update are about and that are not loaded.
pub fn missing<'m, 'r>(
    rules: &'m [Met<'r>],
    update: &'m Update,
    loaded: &'m Needs,
) -> impl Iterator<Item = &'r Overflow> + use<'m, 'r> {
    let is_missing = move |met: &&Met<'_>| {
        let path = &met.rule.path;
        met.was.array.is_some_and(|found| found.kind != ElementType::Array)
            && !loaded.contains(path)
            && update.has_part(path)
    };
    rules.iter().filter(is_missing).map(|met| &**met.rule)
}

/// The other bounds of the policy, kept before elements leave the document.
pub fn within_bounds(
    policy: &Policy,
    applied: &Applied<'_, guarded::Plan>,
    before: &RawDocument,
    after: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    let touched = applied.plan.reach.touched(policy);
    Ok(bounds::enforce(policy, touched, Some(before), Cow::Owned(after))?.into_owned())
}
