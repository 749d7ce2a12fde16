//! A client's transaction while one of its statements runs.

use super::Session;
use super::state::{Phase, aborted};
use crate::Engine;
use crate::catalog::Catalog;
use crate::storage::View;
use crate::transaction::Transaction;
use error::Result;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::OwnedMutexGuard;

/// Lends the transaction to the steps of one statement. Dropped after `succeed`, it
/// goes back to its session; otherwise it is aborted.
pub struct Statement {
    pub number: i64,
    engine: Arc<Engine>,
    session: Arc<Session>,
    /// Away while a step works on it; gone for good once a step has failed.
    transaction: Mutex<Option<Transaction>>,
    succeeded: AtomicBool,
    _turn: OwnedMutexGuard<()>,
}

impl Statement {
    pub(super) fn new(
        engine: Arc<Engine>,
        session: Arc<Session>,
        number: i64,
        transaction: Transaction,
        turn: OwnedMutexGuard<()>,
    ) -> Statement {
        Statement {
            number,
            engine,
            session,
            transaction: Mutex::new(Some(transaction)),
            succeeded: AtomicBool::new(false),
            _turn: turn,
        }
    }

    /// The transaction's snapshot with its own writes.
    pub fn view(&self) -> Result<View> {
        let mut transaction = self.transaction.lock();
        transaction.as_mut().map(Transaction::view).ok_or_else(|| aborted(self.number))
    }

    /// The collections as the transaction sees them.
    pub fn catalog(&self) -> Result<Catalog> {
        let transaction = self.transaction.lock();
        transaction.as_ref().map(Transaction::catalog).ok_or_else(|| aborted(self.number))
    }

    /// Lends the transaction to a step.
    pub fn take(&self) -> Result<Transaction> {
        self.transaction.lock().take().ok_or_else(|| aborted(self.number))
    }

    /// A step that has not failed gives it back.
    pub fn give_back(&self, mut transaction: Transaction) -> Result<()> {
        transaction.check_size()?;
        *self.transaction.lock() = Some(transaction);
        Ok(())
    }

    /// A failure that the reply tells of ends the transaction too.
    pub fn fail(&self) {
        drop(self.transaction.lock().take());
    }

    pub fn succeed(&self) {
        self.succeeded.store(true, Ordering::Relaxed);
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        let transaction = self.transaction.lock().take();
        let kept = transaction.filter(|_| self.succeeded.load(Ordering::Relaxed));
        let ended = {
            let mut state = self.session.state.lock();
            match (&mut state.phase, kept) {
                (Phase::Open(open), Some(transaction)) => {
                    return open.park(transaction);
                }
                (Phase::Open(_), None) => state.abort(),
                // Someone else has put an end to it meanwhile.
                _ => None,
            }
        };
        self.session.discard(&self.engine, ended);
    }
}
