//! Deletes.

use crate::{Backend, Candidates, Guard, Selection, Transaction};
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Result};
use language::Needs;

#[derive(Debug)]
pub struct Delete<'a> {
    pub selection: Selection<'a>,
    /// What the caller wants to see of the deleted document, if anything.
    pub returns: Option<Needs>,
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
    let mut needs = delete.returns.clone().unwrap_or_else(Needs::none);
    delete.selection.filter.needs(&mut needs);
    let mut deleted = Deleted::default();
    let mut candidates = backend.select(namespace, &delete.selection).await?;
    while candidates.advance().await? {
        let mut transaction = backend.begin().await?;
        let row = loop {
            match attempt::<B>(&mut transaction, &mut candidates, namespace, delete, &needs).await {
                Ok(row) => break row,
                Err(error) if error.code() == Code::WriteConflict => {
                    if !transaction.retry().await? {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        };
        backend.commit(transaction).await?;
        let Some(row) = row else { continue };
        deleted.count += 1;
        if delete.returns.is_some() {
            deleted.document = Some((*row).to_owned());
        }
        if !delete.selection.multi {
            break;
        }
    }
    Ok(deleted)
}

async fn attempt<B: Backend>(
    transaction: &mut B::Transaction,
    candidates: &mut B::Candidates,
    namespace: &Namespace,
    delete: &Delete<'_>,
    needs: &Needs,
) -> Result<Option<<B::Transaction as Transaction>::Row>> {
    let guard = transaction.guard(namespace).await?;
    let Some(row) = candidates.claim(transaction, needs).await? else { return Ok(None) };
    if !delete.selection.filter.matches(&row)? {
        return Ok(None);
    }
    if let Some(guard) = &guard {
        guard.delete(transaction, &row).await?;
    }
    transaction.delete(namespace, &row).await?;
    Ok(Some(row))
}
