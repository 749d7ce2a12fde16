//! Deletes.

use crate::{Backend, Candidates, Guard, Returns, Selection, Transaction};
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use language::Needs;

#[derive(Debug)]
pub struct Delete<'a> {
    pub selection: Selection<'a>,
    /// What the caller wants to see of the deleted document, if anything.
    pub returns: Option<Returns<'a>>,
}

#[derive(Debug, Default)]
pub struct Deleted {
    pub count: u64,
    /// The last one deleted, where asked for.
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
        let mut transaction = backend.begin().await?;
        let done = loop {
            match attempt::<B>(&mut transaction, &mut candidates, namespace, delete, &needs).await {
                Ok(done) => break done,
                Err(error) if error.code() == Code::WriteConflict => {
                    if !transaction.retry().await? {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        };
        backend.commit(transaction).await?;
        let Some(shown) = done else { continue };
        deleted.count += 1;
        deleted.document = shown;
        if !delete.selection.multi {
            break;
        }
    }
    Ok(deleted)
}

/// Deletes the candidate, if it still matches, and gives back what the caller is
/// to see of it.
async fn attempt<B: Backend>(
    transaction: &mut B::Transaction,
    candidates: &mut B::Candidates,
    namespace: &Namespace,
    delete: &Delete<'_>,
    needs: &Needs,
) -> Result<Option<Option<RawDocumentBuf>>> {
    let guard = transaction.guard(namespace).await?;
    let Some(row) = candidates.claim(transaction, needs).await? else { return Ok(None) };
    let filter = delete.selection.filter;
    let matches = match &guard {
        Some(guard) if guard.shows_more() => {
            Box::pin(guard.matches(transaction, &row, filter)).await?.is_some()
        }
        _ => filter.matches(&row)?,
    };
    if !matches {
        return Ok(None);
    }
    let shown = match (&guard, &delete.returns) {
        (_, None) => None,
        (None, Some(_)) => Some((*row).to_owned()),
        (Some(guard), Some(returns)) => {
            Some(Box::pin(guard.shown(transaction, &row, returns)).await?)
        }
    };
    if let Some(guard) = &guard {
        Box::pin(guard.delete(transaction, &row)).await?;
    }
    transaction.delete(namespace, &row).await?;
    Ok(Some(shown))
}
