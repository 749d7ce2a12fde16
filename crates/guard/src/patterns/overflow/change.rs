//! An update of a document that has pages.

use super::settle::Settled;
use super::{Done, Met, Seen, TakenApart, Work, assign, is_missing, load, whole, within_bounds};
use crate::guarded;
use crate::patterns::{fields, place};
use crate::policy::{Overflow, Policy, Read};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::update::{Part, Update};
use value::element::get_value;
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
        let parent = get_value(row, "_id").unwrap_or(RawBsonRef::Null);
        let whole = self.load_whole(transaction).await?;
        let base: &RawDocument = whole.as_ref().map_or(row, |whole| &whole.document);
        let update = self.taken.rest.as_ref().unwrap_or(applied.update);
        let after = update.apply(base, applied.matched)?;
        let mut after = after.unwrap_or_else(|| base.to_owned());
        for (met, part) in self.parts() {
            // Parts of arrays without pages belong to the document as it is.
            if let Some(Part { update: Some(part), .. }) = part
                && !met.paged
            {
                after = self.apply_inside(transaction, met.rule, part, after).await?;
            }
        }
        let after = within_bounds(self.policy, applied, base, after)?;
        let mut edits = Vec::new();
        let mut elsewhere = false;
        let mut counted = CountedArrays::new();
        for (met, part) in self.parts() {
            let Met { rule, was, paged, .. } = met;
            let now = Seen::of(&after, rule);
            let mut work = Work { policy: self.policy, rule, transaction, parent };
            if !paged {
                let settled = Settled { row, was, base, after: &after, now };
                let done = work.settle(&settled).await?;
                met.count(done.counters, &mut counted);
                done.write(rule, &now, &mut edits);
                continue;
            }
            let counters = work.counters(row, applied.loaded).await?;
            let done = match part {
                None => Done { counters, ..Done::default() },
                Some(Part { scope, update: None, .. }) => {
                    let assigned = assign::Assigned {
                        scope: *scope,
                        update: applied.update,
                        loaded: whole.as_ref().and_then(|whole| whole.of(rule)),
                    };
                    work.assign(assigned, row, &after, applied.loaded).await?
                }
                Some(part) => work.run(part, row, applied.loaded).await?,
            };
            let done = work.refill(done).await?;
            elsewhere |= done.paged;
            if let (None, Some(whole)) = (&done.head, &whole) {
                whole.restore(rule, row, &after, &mut edits);
            }
            met.count(done.counters, &mut counted);
            done.write(rule, &now, &mut edits);
        }
        let after = if edits.is_empty() { after } else { fields::edit_own(after, &edits)? };
        let changed = after.as_bytes() != row.as_bytes();
        Ok(Outcome { after: changed.then_some(after), elsewhere, counted })
    }

    /// Each array, and what the update does to it.
    fn parts(&self) -> impl Iterator<Item = (Met<'_>, Option<&Part>)> {
        let parts = self.taken.parts.iter().map(Option::as_ref);
        self.rules.iter().copied().zip(parts)
    }

    /// Applies a part to an array that the document holds as a whole.
    async fn apply_inside(
        &self,
        transaction: &mut T,
        rule: &Overflow,
        part: &Update,
        after: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        let mut after = after;
        if is_missing(rule, self.row, self.applied.loaded) {
            let loaded = load(transaction, self.row, self.applied.loaded, &[rule]).await?;
            if let Some(array) = place::find(&loaded, &rule.path) {
                let value = RawBson::from(array.value());
                after = fields::edit(&after, &[(&rule.path, Some(value))])?;
            }
        }
        let updated = part.apply(&after, self.applied.matched)?;
        Ok(updated.unwrap_or(after))
    }

    /// The document with its arrays whole, where a pipeline must see them so.
    async fn load_whole(&self, transaction: &mut T) -> Result<Option<whole::Document<T>>> {
        if !self.applied.update.is_pipeline() {
            return Ok(None);
        }
        let mut needs = Needs::none();
        self.applied.update.needs(&mut needs);
        let mut whole = None;
        for Met { rule, paged, .. } in self.rules {
            if rule.read != Read::Merged || !paged || !needs.contains(&rule.path) {
                continue;
            }
            let parent = get_value(self.row, "_id").unwrap_or(RawBsonRef::Null);
            let mut work = Work { policy: self.policy, rule, transaction, parent };
            let counters = work.counters(self.row, self.applied.loaded).await?;
            let loaded = work.load_all(self.row, self.applied.loaded, counters).await?;
            whole.get_or_insert_with(|| whole::Document::new(self.row)).add(rule, loaded)?;
        }
        Ok(whole)
    }
}
