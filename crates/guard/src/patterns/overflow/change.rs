//! An update of a document that has pages.

use super::apart::TakenApart;
use super::settle::Settled;
use super::update::{Met, missing, within_bounds};
use super::{Done, Head, Seen, Work, assign, load, whole};
use crate::guarded;
use crate::patterns::fields::{self, Edits};
use crate::patterns::place::id;
use crate::policy::{Policy, Read};
use bson::RawDocument;
use error::Result;
use language::Needs;
use language::update::{Part, Scope, Update};
use write::{Applied, CountedArrays, Outcome, Transaction};

pub struct Change<'a, T: Transaction> {
    pub policy: &'a Policy,
    pub rules: &'a [Met<'a>],
    pub taken: &'a TakenApart,
    pub row: &'a T::Row,
    pub applied: &'a Applied<'a, guarded::Plan>,
}

impl<T: Transaction> Change<'_, T> {
    pub async fn with_pages(&self, transaction: &mut T) -> Result<Outcome> {
        let (row, applied) = (self.row, self.applied);
        let parent = id(row);
        let whole = self.load_whole(transaction).await?;
        let unpaged: Vec<Met<'_>> = self.rules.iter().filter(|met| !met.paged).copied().collect();
        let missing: Vec<_> = missing(&unpaged, applied.update, applied.loaded).collect();
        let loaded = match missing.is_empty() {
            true => None,
            false => Some(load(transaction, row, applied.loaded, &missing).await?),
        };
        let held: &RawDocument = loaded.as_deref().unwrap_or(row);
        let base: &RawDocument = whole.as_ref().map_or(held, |whole| &whole.document);
        let own;
        let rest = match self.parts().filter(is_apart).all(|(met, _)| met.paged) {
            true => self.taken.rest.as_ref(),
            false => {
                own = self.rest();
                own.as_ref()
            }
        };
        let after = rest.unwrap_or(applied.update).apply(base, applied.matched)?;
        let after = after.unwrap_or_else(|| base.to_owned());
        let after = within_bounds(self.policy, applied, base, after)?;
        let mut edits = Edits::new();
        let mut elsewhere = false;
        let mut counted = CountedArrays::new();
        for (met, part) in self.parts() {
            let Met { rule, paged, .. } = met;
            let now = Seen::of(&after, rule);
            let mut work = Work { policy: self.policy, rule, transaction, parent };
            if !paged {
                let settled = Settled { row, was: &met.was, base, after: &after, now: &now };
                let done = work.settle(row, &settled).await?;
                met.count(done.counters, &mut counted);
                done.write(rule, &now, &mut edits);
                continue;
            }
            let counters = work.counters(row, applied.loaded).await?;
            let done = match part {
                None => Done::stays(counters),
                Some(part) => match &part.update {
                    Some(update) => work.run(part, update, row, applied.loaded, counters).await?,
                    None => {
                        let assigned = assign::Assigned {
                            scope: part.scope,
                            update: applied.update,
                            loaded: whole.as_ref().and_then(|whole| whole.of(rule)),
                            counters,
                        };
                        work.assign(assigned, row, &after, applied.loaded).await?
                    }
                },
            };
            let done = work.refill(done).await?;
            elsewhere |= done.paged;
            if let (Head::Stays, Some(whole)) = (&done.head, &whole) {
                whole.restore(rule, row, &after, &mut edits);
            }
            met.count(done.counters, &mut counted);
            done.write(rule, &now, &mut edits);
        }
        let after = if edits.is_empty() { after } else { fields::edit_own(after, &edits)? };
        let changed = after.as_bytes() != held.as_bytes();
        let after = changed.then_some(after);
        Ok(Outcome { after, elsewhere, counted, all_counted: false })
    }

    /// Each array, and what the update does to it.
    fn parts(&self) -> impl Iterator<Item = (Met<'_>, Option<&Part>)> {
        let part = |met: &Met<'_>| self.taken.parts.get(met.at).and_then(Option::as_ref);
        self.rules.iter().map(move |met| (*met, part(met)))
    }

    /// The update without the parts of arrays that have pages. Those of arrays without
    /// belong to the document as it is.
    fn rest(&self) -> Option<Update> {
        let mut rest = None;
        for (met, _) in self.parts().filter(is_apart).filter(|(met, _)| met.paged) {
            rest = rest.as_ref().unwrap_or(self.applied.update).without(&met.rule.path);
        }
        rest
    }

    /// The document with those arrays whole that the update must see so: what it makes of
    /// them depends on what they hold.
    async fn load_whole(&self, transaction: &mut T) -> Result<Option<whole::Document<T>>> {
        let update = self.applied.update;
        let mut needs = Needs::none();
        update.needs(&mut needs);
        let mut whole = None;
        for (Met { rule, paged, .. }, part) in self.parts() {
            let looks =
                part.is_some_and(|part| matches!(part.scope, Scope::Compared | Scope::Inside));
            let seen = looks || (update.is_pipeline() && needs.contains(&rule.path));
            if rule.read != Read::Merged || !paged || !seen {
                continue;
            }
            let parent = id(self.row);
            let mut work = Work { policy: self.policy, rule, transaction, parent };
            let counters = work.counters(self.row, self.applied.loaded).await?;
            let loaded = work.load_all(self.row, self.applied.loaded, counters).await?;
            whole.get_or_insert_with(|| whole::Document::new(self.row)).add(rule, loaded)?;
        }
        Ok(whole)
    }
}

/// Whether a part can be taken apart from the rest.
fn is_apart((_, part): &(Met<'_>, Option<&Part>)) -> bool {
    part.is_some_and(|part| part.update.is_some())
}
