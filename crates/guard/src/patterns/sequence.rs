//! What a write does under a policy: each pattern has its turn, in the order of the table.
//! The client's update is applied to the document here; what it does to pieces of an array that
//! has overflowed, a pattern carries out (`overflow::piece`).

use super::declaration::{OneStatement, Single};
use super::measured::Measured;
use super::pattern::{Change, Insertion, Paths};
use super::plan::Plan;
use super::{fitting, table};
use crate::policy::Policy;
use bson::RawDocument;
use error::Result;
use language::Needs;
use language::update::Update;
use std::borrow::Cow;
use write::{Applied, FastInsert, Inserted, Outcome, Transaction, Wanted};

/// The update as one statement that keeps the policy by itself; `None` if it takes the loop.
/// `document` is the client's, by operators.
pub fn as_statement(
    policy: &Policy,
    document: &RawDocument,
    update: &Update,
) -> Option<OneStatement> {
    let plan = Plan::of(policy, update);
    if update.is_replacement() || update.is_pipeline() {
        return None;
    }
    let change = Single { document, plan: &plan };
    let mut one = OneStatement { conditions: Vec::new(), update: document.to_owned() };
    let mut patterns = table::declarations(policy);
    patterns.all(|pattern| pattern.as_statement(policy, &change, &mut one)).then_some(one)
}

/// What of a document must be loaded for an update.
pub fn update_needs<T: Transaction>(
    policy: &Policy,
    update: &Update,
    plan: &Plan,
    needs: &mut Needs,
) {
    let patterns = || table::of::<T>(policy);
    let left_out: Paths<'_> =
        patterns().flat_map(|it| it.leaves_out(policy, update, plan)).collect();
    match left_out.is_empty() {
        true => update.needs(needs),
        // It is about that array alone.
        false if plan.reach.only.is_some() => {}
        false => update.needs_without(&left_out, needs),
    }
    patterns().for_each(|pattern| pattern.update_needs(policy, update, plan, needs));
}

pub fn delete_needs<T: Transaction>(policy: &Policy, needs: &mut Needs) {
    table::of::<T>(policy).for_each(|pattern| pattern.delete_needs(policy, needs));
}

/// The other documents that a batch of new ones needs.
pub fn insert_needs<T: Transaction>(policy: &Policy, documents: &[&RawDocument]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    table::of::<T>(policy).for_each(|pattern| pattern.insert_needs(policy, documents, &mut wanted));
    wanted
}

/// A new document whose arrays are all within their bounds, as those of most are.
pub fn fast_insert<'d, T: Transaction>(
    policy: &Policy,
    document: Cow<'d, RawDocument>,
) -> Result<FastInsert<'d, Measured>> {
    if !table::of::<T>(policy).all(|pattern| pattern.has_fast_insert()) {
        return Ok(FastInsert::Slow(document));
    }
    let Some(arrays) = fitting::measure(policy, &document) else {
        return Ok(FastInsert::Slow(document));
    };
    let measured = Measured { arrays, complete: true };
    let mut insertion = Insertion { policy, document: Some(document), sidecar: None, measured };
    for pattern in table::of::<T>(policy) {
        pattern.fast_insert(&mut insertion)?;
    }
    Ok(FastInsert::Done(insertion.end()))
}

pub async fn insert<'d, T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    document: Cow<'d, RawDocument>,
) -> Result<Inserted<'d, Measured>> {
    let document = Some(document);
    let measured = Measured::default();
    let mut insertion = Insertion { policy, document, sidecar: None, measured };
    for pattern in table::of::<T>(policy) {
        pattern.insert(transaction, &mut insertion).await?;
    }
    Ok(insertion.end())
}

impl<'d> Insertion<'_, 'd> {
    fn end(self) -> Inserted<'d, Measured> {
        let note = self.measured.of_rules(self.policy.arrays.len());
        Inserted { document: self.document, sidecar: self.sidecar, note }
    }
}

/// An update of a document that decides by itself what becomes of it, as most do.
pub fn fast_update<T: Transaction>(
    policy: &Policy,
    transaction: &T,
    row: &T::Row,
    applied: &Applied<'_, Plan>,
) -> Result<Option<Outcome<Measured>>> {
    let mut change = Change::new(policy, row, applied);
    if !table::of::<T>(policy).all(|pattern| pattern.has_fast_update(&mut change)) {
        return Ok(None);
    }
    let Some(after) = applied.update.apply(row, applied.matched)? else {
        return Ok(Some(Outcome::default()));
    };
    change.after = after;
    for pattern in table::of::<T>(policy) {
        if !pattern.fast_update(transaction, &mut change)? {
            return Ok(None);
        }
    }
    Ok(Some(change.end()))
}

pub async fn update<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
    applied: &Applied<'_, Plan>,
) -> Result<Outcome<Measured>> {
    let mut change = Change::new(policy, row, applied);
    for pattern in table::of::<T>(policy) {
        pattern.before_update(transaction, &mut change).await?;
    }
    if !change.apply()? {
        return Ok(Outcome::default());
    }
    for pattern in table::of::<T>(policy) {
        pattern.update(transaction, &mut change).await?;
    }
    Ok(change.end())
}

impl<T: Transaction> Change<'_, T> {
    /// Applies the update, without the parts that patterns carry out. False if there is
    /// nothing to do.
    fn apply(&mut self) -> Result<bool> {
        let rest = self.basis.rest.as_deref().unwrap_or(self.applied.update);
        let after = rest.apply(self.base(), self.applied.matched)?;
        if after.is_none() && !self.basis.is_apart {
            return Ok(false);
        }
        // What a pattern carries out is not part of it yet. What the update has written counts
        // as a change, be it what was there before.
        self.altered = after.is_none();
        self.after = after.unwrap_or_else(|| self.base().to_owned());
        Ok(true)
    }

    fn end(self) -> Outcome<Measured> {
        let changed = !self.altered || self.after.as_bytes() != self.held().as_bytes();
        let Change { policy, after, sidecar, elsewhere, measured, .. } = self;
        let note = measured.of_rules(policy.arrays.len());
        Outcome { after: changed.then_some(after), sidecar, elsewhere, note }
    }
}

pub async fn delete<T: Transaction>(
    policy: &Policy,
    transaction: &mut T,
    row: &T::Row,
) -> Result<()> {
    for pattern in table::of::<T>(policy) {
        pattern.delete(transaction, policy, row).await?;
    }
    Ok(())
}
