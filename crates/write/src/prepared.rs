//! An update made ready for the documents of one collection.

use crate::shown::ShownUpdate;
use crate::{
    Applied, Cause, Guard, GuardOf, Outcome, Sidecar, StoredRow, Transaction, Version, Watched,
};
use bson::{RawBsonRef, RawDocumentBuf};
use command::Namespace;
use error::Result;
use language::Needs;
use language::query::Matched;
use language::update::Update;

/// An update, with what the collection's patterns make of it.
pub struct Prepared<'a, T: Transaction> {
    namespace: &'a Namespace,
    update: &'a Update,
    bypass_validation: bool,
    met: Option<Met<T>>,
}

/// A guard, and its plan of the update.
struct Met<T: Transaction> {
    guard: T::Guard,
    plan: <GuardOf<T> as Guard<T>>::Plan,
}

/// What became of a document.
pub struct UpdatedDocument {
    /// What is stored now; `None` if it stayed as it was.
    pub after: Option<RawDocumentBuf>,
    pub sidecar: Sidecar,
    /// Whether the update has changed it, or something that belongs to it.
    pub modified: bool,
}

impl<'a, T: Transaction> Prepared<'a, T> {
    pub fn new(
        namespace: &'a Namespace,
        update: &'a Update,
        bypass_validation: bool,
    ) -> Prepared<'a, T> {
        Prepared { namespace, update, bypass_validation, met: None }
    }

    pub fn guard(&self) -> Option<&T::Guard> {
        self.met.as_ref().map(|met| &met.guard)
    }

    /// Has the collection's guard plan the update, unless it has done so before.
    pub async fn meet(&mut self, transaction: &mut T) -> Result<()> {
        let guard = transaction.guard(self.namespace).await?;
        let same = match (&self.met, &guard) {
            (Some(met), Some(guard)) => std::ptr::eq(&*met.guard, &**guard),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.met = match guard {
                Some(guard) => Some(Met { plan: guard.plan(self.update)?, guard }),
                None => None,
            };
        }
        Ok(())
    }

    /// Adds what of a document must be loaded.
    pub fn needs(&self, transaction: &T, needs: &mut Needs) {
        match &self.met {
            None => self.update.needs(needs),
            Some(Met { guard, plan }) => guard.update_needs(self.update, plan, needs),
        }
        if !self.bypass_validation {
            transaction.check_needs(self.namespace, needs);
        }
        if let Some(shown) = self.shown(transaction) {
            shown.needs(needs);
        }
    }

    /// The update as clients see it, where somebody watches and that may not be as it is stored.
    fn shown<'s>(&'s self, transaction: &T) -> Option<ShownUpdate<'s, T>> {
        let watched = transaction.watched(self.namespace);
        let met = self.met.as_ref().filter(|_| watched != Watched::Not)?;
        Some(ShownUpdate { guard: &*met.guard, update: self.update, plan: &met.plan, watched })
    }

    /// Applies the update to a document and stores the result, if that is another.
    pub async fn write(
        &self,
        transaction: &mut T,
        row: &T::Row,
        matched: Matched,
        loaded: &Needs,
    ) -> Result<UpdatedDocument> {
        let update = self.update;
        let shown = self.shown(transaction);
        let former = match &shown {
            Some(shown) => Box::pin(shown.former(transaction, row)).await?,
            None => None,
        };
        let Outcome { after, sidecar, elsewhere, note } = match &self.met {
            None => Outcome { after: update.apply(row, matched)?, ..Outcome::default() },
            Some(Met { guard, plan }) => {
                let applied = Applied { update, plan, matched, loaded };
                match guard.fast_update(transaction, row, &applied)? {
                    Some(outcome) => outcome,
                    None => Box::pin(guard.update(transaction, row, applied)).await?,
                }
            }
        };
        if let Some(after) = &after
            && !self.bypass_validation
        {
            transaction.check(self.namespace, Some(row), after)?;
        }
        let document = after.as_deref().unwrap_or(row);
        let version = Version { document, sidecar: sidecar.after(row.sidecar()) };
        let modified = after.is_some() || elsewhere;
        let announced = match &shown {
            Some(shown) if modified => {
                Box::pin(shown.announce(transaction, row, former, version)).await?
            }
            _ => false,
        };
        // An announced change is an event of the document, even if that is not changed.
        if after.is_some() || sidecar.changes() || announced {
            let cause = Cause { update: Some(update), note: Some(&note) };
            transaction.replace(self.namespace, row, version, cause).await?;
        }
        Ok(UpdatedDocument { modified, after, sidecar })
    }
}

/// Updates a document of another collection than the statement's, through the patterns and
/// the validator of its own. False if there is none with this `_id`.
pub async fn update_in<T: Transaction>(
    transaction: &mut T,
    namespace: &Namespace,
    id: RawBsonRef<'_>,
    update: &Update,
) -> Result<bool> {
    let mut prepared = Prepared::new(namespace, update, false);
    prepared.meet(transaction).await?;
    let mut needs = Needs::none();
    prepared.needs(transaction, &mut needs);
    let Some(row) = transaction.get(namespace, id, &needs).await? else { return Ok(false) };
    prepared.write(transaction, &row, Matched::default(), &needs).await?;
    Ok(true)
}
