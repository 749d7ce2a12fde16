//! Deletes.

use crate::{
    Backend, Candidates, Guard, Retry, RetryRecord, Returns, Selection, StoredRow, Transaction,
    TransactionBody, Watched, in_transaction, shown,
};
use bson::RawDocumentBuf;
use command::Namespace;
use error::Result;
use language::Needs;

#[derive(Debug)]
pub struct Delete<'a> {
    pub selection: Selection<'a>,
    /// What the caller wants to see of the deleted document, if anything.
    pub returns: Option<Returns<'a>>,
    /// Where it is retryable; then it is about one document.
    pub retry: Option<Retry<'a, Deleted>>,
}

#[derive(Debug, Default)]
pub struct Deleted {
    pub count: u64,
    /// The last one deleted, where the caller wants it.
    pub document: Option<RawDocumentBuf>,
}

/// Deletes what matches: the first, or all, a transaction each.
pub async fn delete<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    delete: &Delete<'_>,
) -> Result<Deleted> {
    let returned = delete.returns.as_ref().map(|returns| returns.needs.clone());
    let mut needs = returned.unwrap_or_else(Needs::none);
    delete.selection.filter.needs(&mut needs);
    let mut deleted = Deleted::default();
    let mut candidates = backend.select(namespace, &delete.selection).await?;
    while candidates.advance().await? {
        let candidates = &mut candidates;
        let mut step = Step { candidates, namespace, delete, needs: &needs };
        let Some(gone) = in_transaction(backend, &mut step).await? else { continue };
        deleted.count += gone.count;
        deleted.document = gone.document;
        if !delete.selection.multi {
            break;
        }
    }
    Ok(deleted)
}

/// The deletion of one candidate.
struct Step<'a, C> {
    candidates: &'a mut C,
    namespace: &'a Namespace,
    delete: &'a Delete<'a>,
    /// What the filter and the caller look at.
    needs: &'a Needs,
}

impl<T: Transaction, C: Candidates<T>> TransactionBody<T> for Step<'_, C> {
    /// `None` if the candidate does not match any more.
    type Outcome = Option<Deleted>;

    async fn attempt(&mut self, transaction: &mut T) -> Result<Option<Deleted>> {
        let guard = transaction.guard(self.namespace).await?;
        let mut needs = self.needs.clone();
        if let Some(guard) = &guard {
            guard.delete_needs(&mut needs);
        }
        if transaction.watched(self.namespace) == Watched::Documents {
            needs.all();
        }
        let Some(row) = self.candidates.claim(transaction, &needs).await? else {
            return Ok(None);
        };
        let filter = self.delete.selection.filter;
        let matches = match &guard {
            Some(guard) if guard.shows_more(row.version()) => {
                Box::pin(guard.matches(transaction, &row, filter)).await?.is_some()
            }
            _ => filter.matches(&row)?,
        };
        if !matches {
            return Ok(None);
        }
        let shown = match (&guard, &self.delete.returns) {
            (_, None) => None,
            (None, Some(_)) => Some((*row).to_owned()),
            (Some(guard), Some(returns)) => {
                Some(Box::pin(guard.shown(transaction, row.version(), returns)).await?)
            }
        };
        delete_guarded(transaction, &guard, self.namespace, &row).await?;
        Ok(Some(Deleted { count: 1, document: shown }))
    }

    fn record(&self, deleted: &Option<Deleted>) -> Result<RetryRecord<'_>> {
        match (deleted, &self.delete.retry) {
            (Some(deleted), Some(retry)) => retry.record(deleted),
            _ => Ok(RetryRecord::None),
        }
    }
}

/// Deletes a document of another collection than the statement's, through the patterns of its
/// own. False if there is none.
pub async fn delete_in<T: Transaction>(
    transaction: &mut T,
    namespace: &Namespace,
    id: bson::RawBsonRef<'_>,
) -> Result<bool> {
    let guard = transaction.guard(namespace).await?;
    let mut needs = Needs::none();
    if let Some(guard) = &guard {
        guard.delete_needs(&mut needs);
    }
    if transaction.watched(namespace) == Watched::Documents {
        needs.all();
    }
    let Some(row) = transaction.get(namespace, id, &needs).await? else { return Ok(false) };
    delete_guarded(transaction, &guard, namespace, &row).await?;
    Ok(true)
}

async fn delete_guarded<T: Transaction>(
    transaction: &mut T,
    guard: &Option<T::Guard>,
    namespace: &Namespace,
    row: &T::Row,
) -> Result<()> {
    if let Some(guard) = guard {
        // It is seen before its pages go, and announced once nothing else is written.
        let deleted = match guard.shows_more(row.version()) {
            true => shown::deleted(&**guard, transaction, namespace, row.version()).await?,
            false => None,
        };
        Box::pin(guard.delete(transaction, row)).await?;
        deleted.into_iter().for_each(|deleted| transaction.announce(deleted));
    }
    transaction.delete(namespace, row).await
}
