//! How a command stands in its session, found out before it runs.

use super::state::{OpenPhase, Phase, RunningStatement};
use super::{RetryableCommand, Session, Statement, TRANSACTIONS_OPEN_MAX};
use crate::Engine;
use crate::operation::Operation;
use crate::transaction::Transaction;
use command::table::Kind;
use command::{Command, Common};
use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub enum Standing {
    /// By itself.
    Plain,
    /// A write that may come again under the same number.
    Retryable(Arc<RetryableCommand>),
    /// A statement of a transaction.
    Statement(Arc<Statement>),
}

/// Waits for the session's turn where the command is numbered, and checks that it
/// may run under that number.
pub async fn stand(
    engine: &Arc<Engine>,
    common: &Common<'_>,
    command: &Command,
    operation: &Operation,
) -> Result<Standing> {
    let Some(id) = common.session else { return Ok(Standing::Plain) };
    let Some(number) = common.txn_number.filter(|_| command.kind != Kind::Session) else {
        engine.sessions.touch(id)?;
        return Ok(Standing::Plain);
    };
    let session = engine.sessions.get(id)?;
    let turn = session.turn.clone().lock_owned().await;
    operation.interrupt.check()?;
    session.load(engine)?;
    if !common.in_transaction() {
        let (fresh, ended) = session.state.lock().write(id, number)?;
        session.discard(engine, ended);
        return Ok(Standing::Retryable(Arc::new(RetryableCommand::new(
            session, number, fresh, turn,
        ))));
    }
    let transaction = match common.start_transaction {
        true => session.start(engine, common, number, operation)?,
        false => session.go_on(number, operation)?,
    };
    let engine = engine.clone();
    Ok(Standing::Statement(Arc::new(Statement::new(engine, session, number, transaction, turn))))
}

impl Session {
    /// Begins a transaction; one with a lower number that is still open ends.
    fn start(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        common: &Common<'_>,
        number: i64,
        operation: &Operation,
    ) -> Result<Transaction> {
        self.state.lock().check_start(self.id, number)?;
        if engine.sessions.open_transactions() >= TRANSACTIONS_OPEN_MAX {
            return Err(Code::TemporarilyUnavailable.error(format!(
                "there are {TRANSACTIONS_OPEN_MAX} open transactions already; try again later"
            )));
        }
        let open = OpenPhase {
            started: Instant::now(),
            began: bson::DateTime::now(),
            level: common.read_concern.map(|concern| concern.level).unwrap_or_default(),
            parked: None,
            running: Some(RunningStatement::new(&operation.interrupt)),
            active: Duration::ZERO,
            client: operation.client.clone(),
        };
        let ended = self.state.lock().advance(number, Phase::Open(Box::new(open)));
        self.discard(engine, ended);
        engine.sessions.open.lock().insert(self.id, self.clone());
        engine.sessions.figures.started.fetch_add(1, Ordering::Relaxed);
        let mut transaction = Transaction::begin_client(engine.clone());
        transaction.set_client(self.id, number);
        Ok(transaction)
    }

    /// Takes up the transaction that is open.
    fn go_on(&self, number: i64, operation: &Operation) -> Result<Transaction> {
        let mut state = self.state.lock();
        let open = state.open(self.id, number)?;
        open.running = Some(RunningStatement::new(&operation.interrupt));
        open.client = operation.client.clone();
        open.parked.take().ok_or_else(|| super::state::aborted(number))
    }
}
