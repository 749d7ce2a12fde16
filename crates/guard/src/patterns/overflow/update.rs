//! Updates of documents whose arrays have no pages; `change` has the others.

use super::settle::Settled;
use super::{Amends, Work};
use crate::patterns::measured::Measured;
use crate::patterns::pattern::Change;
use crate::patterns::place::id;
use error::Result;
use value::wide;
use write::{StoredRow, Transaction};

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
    change.sidecar = amends.sidecar(change.row.sidecar());
    amends.write(&mut change.after, &mut change.altered)?;
    change.measured = Measured { arrays: amends.lengths, complete };
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
        // The document may keep what it kept before.
        change.elsewhere |= done.paged;
        amends.add(met, done, &now);
    }
    change.sidecar = amends.sidecar(row.sidecar());
    amends.write(&mut change.after, &mut change.altered)?;
    change.measured = Measured { arrays: amends.lengths, complete: false };
    Ok(())
}
