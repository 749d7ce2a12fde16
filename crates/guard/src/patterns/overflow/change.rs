//! An update of a document that has pages.

use super::apart::TakenApart;
use super::glance::{Met, missing};
use super::settle::Settled;
use super::{Amends, Counters, Done, Head, Seen, Work, assign, limits, load, whole};
use crate::patterns::measured::Measured;
use crate::patterns::pattern::Change;
use crate::patterns::place::id;
use crate::patterns::plan::Plan;
use crate::policy::Read;
use bson::RawDocument;
use error::{Code, Result};
use language::Needs;
use language::update::{Part, Scope, Update};
use smallvec::SmallVec;
use std::sync::Arc;
use value::wide;
use write::{Applied, StoredRow, Transaction, Version};

/// What an update is applied to, where that is not the row as it is.
pub struct Basis<T: Transaction> {
    /// The row with more of it loaded.
    pub loaded: Option<T::Row>,
    /// The document with some of its arrays whole.
    whole: Option<whole::WholeDocument<T>>,
    /// The update without the parts that are carried out on pages.
    pub rest: Option<Arc<Update>>,
    /// Whether some arrays have pages: then the update is not all that happens.
    pub is_apart: bool,
}

impl<T: Transaction> Default for Basis<T> {
    fn default() -> Self {
        Basis { loaded: None, whole: None, rest: None, is_apart: false }
    }
}

impl<T: Transaction> Basis<T> {
    pub fn whole(&self) -> Option<&RawDocument> {
        self.whole.as_ref().map(|whole| &*whole.document)
    }
}

/// Loads what the update must see, and takes apart what it does to pages.
pub async fn before<T: Transaction>(transaction: &mut T, change: &mut Change<'_, T>) -> Result<()> {
    let (policy, row, applied) = (change.policy, change.row, change.applied);
    let mut arrays: SmallVec<[Met<'_>; 2]> = {
        let _entered = wide::enter(row);
        Met::all(policy, &applied.plan.reach, row.version()).collect()
    };
    for met in arrays.iter_mut().filter(|met| met.paged && !met.rule.counted) {
        // What says that there are pages may be older than the policy.
        let mut work = Work { policy, rule: met.rule, transaction, parent: id(row) };
        met.paged = work.end_page(true).await?.is_some();
    }
    let is_apart = arrays.iter().any(|met| met.paged);
    let mut basis = Basis { is_apart, ..Basis::default() };
    if is_apart {
        let taken = applied.plan.apart.of(policy, applied.update);
        basis.rest = rest(&arrays, taken, applied.update);
        basis.whole = load_whole(transaction, change, &arrays, taken).await?;
    }
    let unpaged: SmallVec<[Met<'_>; 2]> = arrays.iter().filter(|met| !met.paged).copied().collect();
    let missing: Vec<_> = missing(&unpaged, applied.update, applied.loaded).collect();
    if !missing.is_empty() {
        basis.loaded = Some(load(transaction, row, applied.loaded, &missing).await?);
    }
    change.glance.arrays = arrays;
    change.basis = basis;
    Ok(())
}

/// Carries out what an update does to arrays with pages, and settles the others.
pub async fn with_pages<T: Transaction>(
    transaction: &mut T,
    change: &mut Change<'_, T>,
) -> Result<()> {
    let (policy, row, applied) = (change.policy, change.row, change.applied);
    let taken = applied.plan.apart.of(policy, applied.update);
    let whole = change.basis.whole.as_ref();
    let mut amends = Amends::default();
    for (met, part) in parts(&change.glance.arrays, taken) {
        let after = &*change.after;
        let rule = met.rule;
        let now = Seen::of(Version { document: after, sidecar: row.sidecar() }, rule);
        let mut work = Work { policy, rule, transaction, parent: id(row) };
        if !met.paged {
            let settled = Settled { row, was: &met.was, base: change.base(), after, now: &now };
            let done = work.settle(row, &settled).await?;
            change.elsewhere |= done.paged;
            amends.add(met, done, &now);
            continue;
        }
        let counters = match part {
            None => work.counters(row, applied.loaded).await?,
            Some(_) => work.weighed(row, applied.loaded).await?,
        };
        let done = match part {
            None => Done::stays(counters),
            Some(part) => match &part.update {
                Some(update) if part.scope != Scope::Matched => {
                    let done = work.run(part, update, row, applied.loaded, counters).await;
                    work.as_of_whole(done, applied, row, counters).await?
                }
                // The filter has seen the whole array, or is refused.
                Some(_) if rule.read == Read::Head => return Err(limits::positional(rule)),
                Some(update) => {
                    let part = part.at_match(applied.matched)?;
                    let update = part.update.as_ref().unwrap_or(update);
                    let done = work.run(&part, update, row, applied.loaded, counters).await;
                    work.as_of_whole(done, applied, row, counters).await?
                }
                None => {
                    let assigned = assign::Assigned {
                        scope: part.scope,
                        update: applied.update,
                        loaded: whole.and_then(|whole| whole.of(rule)),
                        counters,
                    };
                    work.assign(assigned, row, after, applied.loaded).await?
                }
            },
        };
        let done = work.bound(done, counters, row, applied.loaded).await?;
        let done = work.refill(done).await?;
        change.elsewhere |= done.paged;
        if let (Head::Stays, Some(whole)) = (&done.head, whole) {
            whole.restore(rule, row, after, &mut amends.edits);
        }
        amends.add(met, done, &now);
    }
    change.sidecar = amends.sidecar(row.sidecar());
    amends.write(&mut change.after, &mut change.altered)?;
    change.measured = Measured { arrays: amends.lengths, complete: false };
    Ok(())
}

impl<T: Transaction> Work<'_, T> {
    /// The error that the update gives on the whole array, where it fails on a part: elements
    /// have other numbers there, and parts are not taken in the order of the array.
    async fn as_of_whole(
        &mut self,
        done: Result<Done>,
        applied: &Applied<'_, Plan>,
        row: &T::Row,
        counters: Counters,
    ) -> Result<Done> {
        let Err(error) = done else { return done };
        if self.rule.read == Read::Head || !matches!(error.code(), Code::PathNotViable) {
            return Err(error);
        }
        let Ok(loaded) = self.load_all(row, applied.loaded, counters).await else {
            return Err(error);
        };
        let mut whole = whole::WholeDocument::<T>::new(row);
        whole.add(self.rule, loaded)?;
        match applied.update.apply(&whole.document, applied.matched) {
            Err(of_whole) => Err(of_whole),
            Ok(_) => Err(error),
        }
    }
}

/// Each array, and what the update does to it.
fn parts<'m, 'a>(
    arrays: &'m [Met<'a>],
    taken: &'m TakenApart,
) -> impl Iterator<Item = (&'m Met<'a>, Option<&'m Part>)> {
    arrays.iter().map(move |met| (met, taken.parts.get(met.at).and_then(Option::as_ref)))
}

/// The update without the parts of arrays that have pages. Those of arrays without
/// belong to the document as it is.
fn rest(arrays: &[Met<'_>], taken: &TakenApart, update: &Update) -> Option<Arc<Update>> {
    let is_apart = |part: Option<&Part>| part.is_some_and(|part| part.update.is_some());
    let apart = || parts(arrays, taken).filter(|(_, part)| is_apart(*part)).map(|(met, _)| met);
    if apart().all(|met| met.paged) {
        return taken.rest.clone();
    }
    let mut rest: Option<Update> = None;
    for met in apart().filter(|met| met.paged) {
        rest = rest.as_ref().unwrap_or(update).without(&met.rule.path);
    }
    rest.map(Arc::new)
}

/// The document with those arrays whole that the update must see so: what it makes of
/// them depends on what they hold.
async fn load_whole<T: Transaction>(
    transaction: &mut T,
    change: &Change<'_, T>,
    arrays: &[Met<'_>],
    taken: &TakenApart,
) -> Result<Option<whole::WholeDocument<T>>> {
    let (policy, row, applied) = (change.policy, change.row, change.applied);
    let mut needs = Needs::none();
    applied.update.needs(&mut needs);
    let mut whole = None;
    for (Met { rule, paged, .. }, part) in parts(arrays, taken) {
        let looks = part.is_some_and(|part| {
            matches!(part.scope, Scope::Compared | Scope::Inside | Scope::Renamed)
        });
        let seen = looks || (applied.update.is_pipeline() && needs.contains(&rule.path));
        if rule.read != Read::Merged || !paged || !seen {
            continue;
        }
        let mut work = Work { policy, rule, transaction, parent: id(row) };
        let counters = work.counters(row, applied.loaded).await?;
        let loaded = work.load_all(row, applied.loaded, counters).await?;
        whole.get_or_insert_with(|| whole::WholeDocument::new(row)).add(rule, loaded)?;
    }
    Ok(whole)
}
