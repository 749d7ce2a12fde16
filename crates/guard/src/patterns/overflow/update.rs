//! Updates of documents whose arrays have no pages; `change` has the others.

use super::glance::Met;
use super::settle::Settled;
use super::{Done, Seen, Work};
use crate::patterns::fields::{self, Edits};
use crate::patterns::measured::{ArrayLengths, Measured};
use crate::patterns::pattern::Change;
use crate::patterns::place::id;
use bson::RawDocumentBuf;
use error::Result;
use value::wide;
use write::Transaction;

/// Counts the arrays of an updated document that keeps them whole; false if one no longer
/// fits.
pub fn fast<T: Transaction>(change: &mut Change<'_, T>) -> Result<bool> {
    if let Some(push) = change.glance.push.take() {
        let after = std::mem::take(&mut change.after);
        let Some(after) = push.count(change.row, after)? else { return Ok(false) };
        change.after = after;
        change.measured = push.measured();
        return Ok(true);
    }
    let (row, reach) = (&**change.row, &change.applied.plan.reach);
    let mut amends = Amends::default();
    let entered = wide::enter(&change.after);
    for met in &change.glance.arrays {
        let now = met.seen(reach, &change.after);
        let settled = Settled { row, was: &met.was, base: row, after: &change.after, now: &now };
        let Some(done) = settled.fast(met.rule) else { return Ok(false) };
        amends.add(met, done, &now);
    }
    drop(entered);
    let counted = amends.lengths.len() == change.glance.arrays.len();
    let complete = counted && reach.is_of(&amends.lengths);
    let Amends { edits, lengths } = amends;
    change.measured = Measured { arrays: lengths, complete };
    write(&edits, &mut change.after, &mut change.altered)?;
    Ok(true)
}

/// Moves what is over the bounds to pages, and counts.
pub async fn settle<T: Transaction>(transaction: &mut T, change: &mut Change<'_, T>) -> Result<()> {
    let (policy, row) = (change.policy, change.row);
    let reach = &change.applied.plan.reach;
    let mut amends = Amends::default();
    for met in &change.glance.arrays {
        let now = met.seen(reach, &change.after);
        let (base, after) = (change.base(), &*change.after);
        let settled = Settled { row, was: &met.was, base, after, now: &now };
        let done = match settled.fast(met.rule) {
            Some(done) => done,
            None => {
                let mut work = Work { policy, rule: met.rule, transaction, parent: id(row) };
                work.settle(row, &settled).await?
            }
        };
        amends.add(met, done, &now);
    }
    let Amends { edits, lengths } = amends;
    change.measured = Measured { arrays: lengths, complete: false };
    write(&edits, &mut change.after, &mut change.altered)
}

/// What is to be changed in an updated document, so that what it says of its arrays is true.
#[derive(Default)]
pub struct Amends<'r> {
    pub edits: Edits<'r>,
    pub lengths: ArrayLengths,
}

impl<'r> Amends<'r> {
    /// Adds what became of an array, which `now` shows as the update has left it.
    pub fn add(&mut self, met: &Met<'r>, done: Done, now: &Seen<'_>) {
        met.measure(done.counters, &mut self.lengths);
        done.write(met.rule, now, &mut self.edits);
    }
}

/// Edits a document. It may end as it was before the update: what that wrote may be no more
/// than counters that the server knows better.
pub fn write(edits: &Edits<'_>, after: &mut RawDocumentBuf, altered: &mut bool) -> Result<()> {
    if !edits.is_empty() {
        *after = fields::edit_own(std::mem::take(after), edits)?;
        *altered = true;
    }
    Ok(())
}
