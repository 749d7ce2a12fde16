//! Work that is done in one transaction: on a conflict it is rolled back and done over. A
//! transaction that is dropped without a commit is a rollback.

use crate::{Backend, RetryRecord, Transaction};
use error::{Code, Result};
use std::future::Future;

/// Work in a transaction. It may have to be done over, from the start.
pub trait TransactionBody<T: Transaction>: Send {
    type Outcome: Send;

    fn attempt(
        &mut self,
        transaction: &mut T,
    ) -> impl Future<Output = Result<Self::Outcome>> + Send;

    /// What is kept of it, in the same commit.
    fn record(&self, outcome: &Self::Outcome) -> Result<RetryRecord<'_>> {
        let _ = outcome;
        Ok(RetryRecord::None)
    }
}

/// Does the work in a transaction of its own and commits it. On a write conflict everything is
/// rolled back and done over, except in a client's own transaction, which ends with it.
pub async fn in_transaction<B: Backend, W: TransactionBody<B::Transaction>>(
    backend: &B,
    work: &mut W,
) -> Result<W::Outcome> {
    let mut transaction = backend.begin().await?;
    let outcome = attempt(&mut transaction, work).await?;
    backend.commit(transaction, work.record(&outcome)?).await?;
    Ok(outcome)
}

/// Does the work in a transaction, over again after each write conflict, and commits nothing.
pub async fn attempt<T: Transaction, W: TransactionBody<T>>(
    transaction: &mut T,
    work: &mut W,
) -> Result<W::Outcome> {
    loop {
        match work.attempt(transaction).await {
            Err(error) if error.code() == Code::WriteConflict && transaction.retry().await? => {}
            outcome => return outcome,
        }
    }
}
