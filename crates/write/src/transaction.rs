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
    loop {
        match work.attempt(&mut transaction).await {
            Ok(outcome) => {
                backend.commit(transaction, work.record(&outcome)?).await?;
                return Ok(outcome);
            }
            Err(error) if error.code() == Code::WriteConflict && transaction.retry().await? => {}
            Err(error) => return Err(error),
        }
    }
}
