//! Retryable writes: a repeated statement is answered from its record.

use super::record::{self, StatementRun};
use super::{Session, SessionId};
use crate::Engine;
use crate::transaction::Transaction;
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::OwnedMutexGuard;

/// A command's writes under one number of its session.
pub struct RetryableCommand {
    session: Arc<Session>,
    number: i64,
    /// The number is new: none of its statements can have been carried out.
    fresh: bool,
    /// Whether a statement was answered from its record.
    retried: AtomicBool,
    _turn: OwnedMutexGuard<()>,
}

impl RetryableCommand {
    pub(super) fn new(
        session: Arc<Session>,
        number: i64,
        fresh: bool,
        turn: OwnedMutexGuard<()>,
    ) -> RetryableCommand {
        RetryableCommand { session, number, fresh, retried: AtomicBool::new(false), _turn: turn }
    }

    /// What a statement answered when it was carried out, if it was.
    pub fn recorded(&self, engine: &Engine, statement: i32) -> Result<Option<RawDocumentBuf>> {
        if self.fresh {
            return Ok(None);
        }
        let view = engine.store.view();
        let answer = record::read(&view, self.session.id, self.number, statement)?;
        if answer.is_some() {
            let figures = &engine.sessions.figures;
            figures.retried_statements.fetch_add(1, Ordering::Relaxed);
            if !self.retried.swap(true, Ordering::Relaxed) {
                figures.retried_commands.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(answer)
    }

    /// Adds a statement's record to the transaction that carries it out.
    pub fn record(&self, transaction: &mut Transaction, statement: i32, answer: &RawDocument) {
        let run = StatementRun::one(statement);
        record::write(transaction, self.session.id, self.number, run, answer);
    }

    /// Adds the records of inserts, which answer nothing, to the transaction that
    /// carries them out.
    pub fn record_inserts(&self, transaction: &mut Transaction, statements: &[i32]) {
        let nothing = RawDocumentBuf::new();
        for run in StatementRun::all(statements) {
            record::write(transaction, self.session.id, self.number, run, &nothing);
        }
    }
}

impl Session {
    /// Reads what the store knows of the session, once.
    pub(super) fn load(&self, engine: &Engine) -> Result<()> {
        if self.state.lock().loaded {
            return Ok(());
        }
        let last = record::last(&engine.store.view(), self.id)?;
        let mut state = self.state.lock();
        state.loaded = true;
        if let Some((number, committed)) = last {
            state.number = number;
            if committed {
                state.phase = super::state::Phase::Committed(None);
            }
        }
        Ok(())
    }

    pub(super) fn record_commit(&self, transaction: &mut Transaction, number: i64) {
        let id: SessionId = self.id;
        let nothing = RawDocumentBuf::new();
        record::write(transaction, id, number, StatementRun::one(record::COMMITTED), &nothing);
    }
}
