//! Updates: operators, replacements, pipelines, upserts.

use crate::insert::insert_in;
use crate::prepared::{Prepared, UpdatedDocument};
use crate::{
    Backend, Candidates, Guard, RetryRecord, RetryUpdate, Selection, StoredRow, Transaction,
    TransactionBody, Version, document, in_transaction, limits,
};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Error, Result};
use language::Needs;
use language::query::Matched;
use language::update::Update;
use std::borrow::Cow;

/// How often an upsert tries again that others beat to its key.
const UPSERT_ATTEMPTS_MAX: usize = 16;

#[derive(Debug)]
pub struct UpdateRequest<'a> {
    pub selection: Selection<'a>,
    pub update: &'a Update,
    pub upsert: bool,
    pub bypass_validation: bool,
    /// What the caller wants to see of the document.
    pub returns: Option<Returns<'a>>,
    /// Where it is retryable; then it is about one document.
    pub retry: Option<RetryUpdate<'a>>,
}

impl UpdateRequest<'_> {
    fn record(&self, updated: &Updated) -> Result<RetryRecord<'static>> {
        self.retry.as_ref().map_or(Ok(RetryRecord::None), |retry| retry.record(updated))
    }
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

/// The document a change touched, where the caller wants it.
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
    change: &UpdateRequest<'_>,
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

/// Whether the filter names the very key that was taken, so that the
/// document which took it may be the one to update.
fn names_key(change: &UpdateRequest<'_>, error: &Error) -> bool {
    let key = error.details().find(|(name, _)| *name == "keyPattern");
    let Some(RawBsonRef::Document(key)) = key.map(|(_, value)| value) else { return false };
    let Ok(equalities) = change.selection.filter.equalities() else { return false };
    let mut fields = value::elements(key);
    fields.all(|field| equalities.iter().any(|(path, _)| path.as_str() == field.key))
}

async fn update_matching<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    change: &UpdateRequest<'_>,
) -> Result<Updated> {
    let returned = change.returns.as_ref().map(|returns| returns.needs.clone());
    let mut needs = returned.unwrap_or_else(Needs::none);
    change.selection.filter.needs(&mut needs);
    let prepared = Prepared::new(namespace, change.update, change.bypass_validation);
    let mut updated = Updated::default();
    let candidates = backend.select(namespace, &change.selection).await?;
    let mut statement = Statement { change, candidates, needs, prepared };
    while statement.candidates.advance().await? {
        let Some(one) = in_transaction(backend, &mut statement).await? else { continue };
        updated.matched += one.matched;
        updated.modified += one.modified;
        updated.touched = one.touched;
        if !change.selection.multi {
            break;
        }
    }
    Ok(updated)
}

struct Statement<'a, T: Transaction, C> {
    change: &'a UpdateRequest<'a>,
    candidates: C,
    /// What the filter and the caller look at.
    needs: Needs,
    prepared: Prepared<'a, T>,
}

impl<T: Transaction, C: Candidates<T>> TransactionBody<T> for Statement<'_, T, C> {
    /// `None` if the candidate does not match any more.
    type Outcome = Option<Updated>;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Option<Updated>> {
        let change = self.change;
        self.prepared.meet(transaction).await?;
        let mut needs = self.needs.clone();
        self.prepared.needs(transaction, &mut needs);
        let Some(row) = self.candidates.claim(transaction, &needs).await? else { return Ok(None) };
        let filter = change.selection.filter;
        let matched = match self.prepared.guard() {
            Some(guard) if guard.shows_more(row.version()) => {
                Box::pin(guard.matches(transaction, &row, filter)).await?
            }
            _ => filter.matches_at(&row)?,
        };
        let Some(matched) = matched else { return Ok(None) };
        let mut shown = match &change.returns {
            Some(returns) if !returns.after => {
                Some(show(self.prepared.guard(), transaction, row.version(), returns).await?)
            }
            _ => None,
        };
        let written = self.prepared.write(transaction, &row, matched, &needs).await?;
        let UpdatedDocument { after, sidecar, modified } = written;
        if let Some(returns) = change.returns.as_ref().filter(|returns| returns.after) {
            let document = after.as_deref().unwrap_or(&row);
            let version = Version { document, sidecar: sidecar.after(row.sidecar()) };
            shown = Some(show(self.prepared.guard(), transaction, version, returns).await?);
        }
        let touched = shown.map(|document| Touched { document: Some(document), matched });
        Ok(Some(Updated { matched: 1, modified: u64::from(modified), upserted: None, touched }))
    }

    fn record(&self, updated: &Option<Updated>) -> Result<RetryRecord<'_>> {
        updated.as_ref().map_or(Ok(RetryRecord::None), |updated| self.change.record(updated))
    }
}

/// What the caller is to see of a document.
async fn show<T: Transaction>(
    guard: Option<&T::Guard>,
    transaction: &mut T,
    version: Version<'_>,
    returns: &Returns<'_>,
) -> Result<RawDocumentBuf> {
    match guard {
        None => Ok(version.document.to_owned()),
        Some(guard) => Box::pin(guard.shown(transaction, version, returns)).await,
    }
}

/// Inserts what the change makes of nothing. `None` if another client inserted it
/// meanwhile: it may match now.
async fn upsert<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    change: &UpdateRequest<'_>,
    last: bool,
) -> Result<Option<Updated>> {
    let made = change.update.upsert(change.selection.filter)?;
    let made = document::identify(&made)?.into_owned();
    check_upsert(&made)?;
    let mut upsert = Upsert { namespace, change, made: &made };
    match in_transaction(backend, &mut upsert).await {
        Ok(updated) => Ok(Some(updated)),
        Err(error)
            if error.code() == Code::DuplicateKey
                && !last
                && !backend.is_clients()
                && names_key(change, &error) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn check_upsert(made: &RawDocument) -> Result<()> {
    match made.as_bytes().len() > limits::DOCUMENT_BYTES_MAX {
        true => Err(limits::upsert_too_large()),
        false => Ok(()),
    }
}

/// The insertion of what an upsert makes.
struct Upsert<'a> {
    namespace: &'a Namespace,
    change: &'a UpdateRequest<'a>,
    made: &'a RawDocument,
}

impl<T: Transaction> TransactionBody<T> for Upsert<'_> {
    type Outcome = Updated;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Updated> {
        let Upsert { namespace, change, made } = *self;
        let id = value::element::get(made, "_id").map(|id| RawBson::from(id.value()));
        let made = Cow::Borrowed(made);
        let bypass = change.bypass_validation;
        let stored = insert_in(transaction, namespace, made, bypass, check_upsert).await?;
        let touched = match &change.returns {
            None => None,
            Some(returns) => {
                let matched = Matched::default();
                let document = match stored.filter(|_| returns.after) {
                    Some(stored) => {
                        let guard = transaction.guard(namespace).await?;
                        Some(show(guard.as_ref(), transaction, stored.version(), returns).await?)
                    }
                    None => None,
                };
                Some(Touched { document, matched })
            }
        };
        Ok(Updated { matched: 0, modified: 0, upserted: id, touched })
    }

    fn record(&self, updated: &Updated) -> Result<RetryRecord<'_>> {
        self.change.record(updated)
    }
}
