//! Updates: operators, replacements, pipelines, upserts.

use crate::insert::guarded;
use crate::{
    Applied, Backend, Candidates, Cause, Guard, Inserted, Outcome, Selection, Transaction,
    document, limits,
};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use language::query::Matched;
use language::update::Update;
use std::borrow::Cow;
use std::ops::Deref;

/// How often an upsert tries again that others beat to its key.
const UPSERT_ATTEMPTS_MAX: usize = 16;

#[derive(Debug)]
pub struct Change<'a> {
    pub selection: Selection<'a>,
    pub update: &'a Update,
    pub upsert: bool,
    pub bypass_validation: bool,
    /// What the caller wants to see of the document.
    pub returns: Option<Returns<'a>>,
}

/// What a caller wants to see of a document that is written.
#[derive(Debug, Clone)]
pub struct Returns<'a> {
    pub needs: Needs,
    /// The projection that the caller will apply to what it gets.
    pub projection: Option<&'a RawDocument>,
    /// As it is after the write, not as it was before.
    pub after: bool,
}

#[derive(Debug, Default)]
pub struct Updated {
    pub matched: u64,
    pub modified: u64,
    /// The `_id` of the document an upsert inserted.
    pub upserted: Option<RawBson>,
    pub touched: Option<Touched>,
}

/// The document a change touched, where the caller asked to see it.
#[derive(Debug)]
pub struct Touched {
    /// Before or after; there is nothing before an upsert.
    pub document: Option<RawDocumentBuf>,
    pub matched: Matched,
}

/// Updates what matches: the first, or all, a transaction each.
pub async fn update<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    change: &Change<'_>,
) -> Result<Updated> {
    let mut attempts = 1;
    loop {
        let updated = update_matching(backend, namespace, change).await?;
        if updated.matched > 0 || !change.upsert {
            return Ok(updated);
        }
        let last = attempts == UPSERT_ATTEMPTS_MAX;
        if let Some(upserted) = upsert(backend, namespace, change, last).await? {
            return Ok(upserted);
        }
        attempts += 1;
    }
}

/// Whether the filter asks for the very key that was taken, so that the
/// document which took it may be the one to update.
fn names_key(change: &Change<'_>, error: &Error) -> bool {
    let key = error.details().find(|(name, _)| *name == "keyPattern");
    let Some(RawBsonRef::Document(key)) = key.map(|(_, value)| value) else { return false };
    let Ok(equalities) = change.selection.filter.equalities() else { return false };
    let mut fields = value::elements(key);
    fields.all(|field| equalities.iter().any(|(path, _)| path.as_str() == field.key))
}

async fn update_matching<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    change: &Change<'_>,
) -> Result<Updated> {
    let returned = change.returns.as_ref().map(|returns| returns.needs.clone());
    let mut needs = returned.unwrap_or_else(Needs::none);
    change.selection.filter.needs(&mut needs);
    let mut statement = Statement { backend, namespace, change, needs, watch: None };
    let mut updated = Updated::default();
    let mut candidates = backend.select(namespace, &change.selection).await?;
    while candidates.advance().await? {
        let Some(step) = statement.step(&mut candidates).await? else { continue };
        updated.matched += 1;
        updated.modified += u64::from(step.modified);
        updated.touched = step.touched;
        if !change.selection.multi {
            break;
        }
    }
    Ok(updated)
}

struct Statement<'a, B: Backend> {
    backend: &'a B,
    namespace: &'a Namespace,
    change: &'a Change<'a>,
    /// What the filter and the caller look at.
    needs: Needs,
    watch: Option<Watch<B::Transaction>>,
}

/// A guard, and what it made of the update.
struct Watch<T: Transaction> {
    guard: T::Guard,
    plan: <GuardOf<T> as Guard<T>>::Plan,
}

struct Step {
    modified: bool,
    touched: Option<Touched>,
}

impl<B: Backend> Statement<'_, B> {
    async fn step(&mut self, candidates: &mut B::Candidates) -> Result<Option<Step>> {
        let mut transaction = self.backend.begin().await?;
        loop {
            match self.attempt(&mut transaction, candidates).await {
                Ok(step) => {
                    self.backend.commit(transaction).await?;
                    return Ok(step);
                }
                Err(error) if error.code() == Code::WriteConflict => {
                    if !transaction.retry().await? {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn attempt(
        &mut self,
        transaction: &mut B::Transaction,
        candidates: &mut B::Candidates,
    ) -> Result<Option<Step>> {
        let (namespace, change) = (self.namespace, self.change);
        let guard = transaction.guard(namespace).await?;
        self.watch(guard)?;
        let needs = self.needs(transaction);
        let Some(row) = candidates.claim(transaction, &needs).await? else { return Ok(None) };
        let filter = change.selection.filter;
        let matched = match &self.watch {
            Some(Watch { guard, .. }) if guard.shows_more() => {
                Box::pin(guard.matches(transaction, &row, filter)).await?
            }
            _ => filter.matches_at(&row)?,
        };
        let Some(matched) = matched else { return Ok(None) };
        let mut shown = match &change.returns {
            Some(returns) if !returns.after => Some(self.shown(transaction, &row, returns).await?),
            _ => None,
        };
        let Outcome { after, elsewhere, counted, all_counted } = match &self.watch {
            None => {
                let after = change.update.apply(&row, matched)?;
                Outcome { after, ..Outcome::default() }
            }
            Some(Watch { guard, plan }) => {
                let applied = Applied { update: change.update, plan, matched, loaded: &needs };
                match guard.update_at_once(transaction, &row, &applied)? {
                    Some(outcome) => outcome,
                    None => Box::pin(guard.update(transaction, &row, applied)).await?,
                }
            }
        };
        if let Some(after) = &after {
            if !change.bypass_validation {
                transaction.check(namespace, Some(&row), after)?;
            }
            let cause = Cause { update: Some(change.update), counted: &counted, all_counted };
            transaction.replace(namespace, &row, after, cause).await?;
        }
        let modified = after.is_some() || elsewhere;
        if let Some(returns) = change.returns.as_ref().filter(|returns| returns.after) {
            let after = after.as_deref().unwrap_or(&row);
            shown = Some(self.shown(transaction, after, returns).await?);
        }
        let touched = shown.map(|document| Touched { document: Some(document), matched });
        Ok(Some(Step { modified, touched }))
    }

    /// What the caller is to see of a document.
    async fn shown(
        &self,
        transaction: &mut B::Transaction,
        document: &RawDocument,
        returns: &Returns<'_>,
    ) -> Result<RawDocumentBuf> {
        match &self.watch {
            None => Ok(document.to_owned()),
            Some(Watch { guard, .. }) => {
                Box::pin(guard.shown(transaction, document, returns)).await
            }
        }
    }

    /// Lets the guard look at the update, unless it is the one that has.
    fn watch(&mut self, guard: Option<<B::Transaction as Transaction>::Guard>) -> Result<()> {
        let same = match (&self.watch, &guard) {
            (Some(watch), Some(guard)) => std::ptr::eq(&*watch.guard, &**guard),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.watch = match guard {
                Some(guard) => Some(Watch { plan: guard.plan(self.change.update)?, guard }),
                None => None,
            };
        }
        Ok(())
    }

    /// What of a document must be loaded.
    fn needs(&self, transaction: &B::Transaction) -> Needs {
        let mut needs = self.needs.clone();
        match &self.watch {
            None => self.change.update.needs(&mut needs),
            Some(Watch { guard, plan }) => guard.needs(self.change.update, plan, &mut needs),
        }
        if !self.change.bypass_validation {
            transaction.check_needs(self.namespace, &mut needs);
        }
        needs
    }
}

type GuardOf<T> = <<T as Transaction>::Guard as Deref>::Target;

/// Inserts what the change makes of nothing. `None` if someone inserted it
/// meanwhile: it may match now.
async fn upsert<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    change: &Change<'_>,
    last: bool,
) -> Result<Option<Updated>> {
    let made = change.update.upsert(change.selection.filter)?;
    let made = document::identify(&made)?.into_owned();
    check_upsert(&made)?;
    let mut transaction = backend.begin().await?;
    let inserted = loop {
        match insert_made(&mut transaction, namespace, change, &made).await {
            Ok(inserted) => break inserted,
            Err(error) if error.code() == Code::WriteConflict => {
                if !transaction.retry().await? {
                    return Err(error);
                }
            }
            Err(error) if error.code() == Code::DuplicateKey && !last => {
                return match names_key(change, &error) && transaction.retry().await? {
                    true => Ok(None),
                    false => Err(error),
                };
            }
            Err(error) => return Err(error),
        }
    };
    backend.commit(transaction).await?;
    let id = value::element::get(&made, "_id").map(|id| RawBson::from(id.value()));
    let touched = change
        .returns
        .is_some()
        .then(|| Touched { document: inserted, matched: Matched::default() });
    Ok(Some(Updated { matched: 0, modified: 0, upserted: id, touched }))
}

fn check_upsert(made: &RawDocument) -> Result<()> {
    match made.as_bytes().len() > limits::DOCUMENT_BYTES_MAX {
        true => Err(limits::upsert_too_large()),
        false => Ok(()),
    }
}

/// Inserts what an upsert makes, and gives back what the caller is to see of it.
async fn insert_made<T: Transaction>(
    transaction: &mut T,
    namespace: &Namespace,
    change: &Change<'_>,
    made: &RawDocument,
) -> Result<Option<RawDocumentBuf>> {
    let made = Cow::Borrowed(made);
    let guard = transaction.guard(namespace).await?;
    let Inserted { document: made, counted } = guarded(&guard, transaction, made).await?;
    check_upsert(&made)?;
    if !change.bypass_validation {
        transaction.check(namespace, None, &made)?;
    }
    transaction.insert(namespace, &made, &counted).await?;
    match (&guard, change.returns.as_ref().filter(|returns| returns.after)) {
        (_, None) => Ok(None),
        (None, Some(_)) => Ok(Some(made.into_owned())),
        (Some(guard), Some(returns)) => {
            Box::pin(guard.shown(transaction, &made, returns)).await.map(Some)
        }
    }
}
