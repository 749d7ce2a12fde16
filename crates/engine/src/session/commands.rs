//! `commitTransaction` and `abortTransaction`, as far as they are about the session.

use super::Session;
use super::state::Phase;
use crate::Engine;
use crate::storage::{Mark, Ticket};
use command::Common;
use command::common::ReadLevel;
use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Commits the transaction that a command names, or finds that it is committed.
/// Gives back what must be synced before that is certain.
pub async fn commit(engine: &Arc<Engine>, common: &Common<'_>) -> Result<Option<Ticket>> {
    let (session, number) = named(engine, common, "commitTransaction")?;
    let _turn = session.turn.lock().await;
    session.load(engine)?;
    let (mut transaction, level) = {
        let mut state = session.state.lock();
        if let Phase::Committed(ticket) = state.phase
            && state.number == number
        {
            return Ok(ticket);
        }
        let open = state.open(session.id, number)?;
        let level = open.level;
        let parked = open.parked.take().ok_or_else(|| super::state::aborted(number));
        // Until the commit is in, everyone else takes it for aborted.
        state.phase = Phase::Aborted;
        (parked?, level)
    };
    let wrote = !transaction.is_empty();
    if wrote {
        session.record_commit(&mut transaction, number);
    }
    let made = transaction.made();
    let outcome = transaction.commit_client().await;
    session.close(engine);
    let figures = &engine.sessions.figures;
    let count = if outcome.is_ok() { &figures.committed } else { &figures.aborted };
    count.fetch_add(1, Ordering::Relaxed);
    let mut ticket = outcome?;
    if !wrote && level != ReadLevel::Local {
        // It has read what may not be synced yet.
        ticket = Some(engine.store.newest());
    }
    session.state.lock().phase = Phase::Committed(ticket);
    engine.mirror_made(&made).await;
    Ok(ticket)
}

/// Aborts the transaction that a command names.
pub async fn abort(engine: &Arc<Engine>, common: &Common<'_>) -> Result<()> {
    let (session, number) = named(engine, common, "abortTransaction")?;
    let _turn = session.turn.lock().await;
    session.load(engine)?;
    let ended = {
        let mut state = session.state.lock();
        state.open(session.id, number)?;
        state.abort()
    };
    session.discard(engine, ended);
    Ok(())
}

/// Waits until a commit is as safe as asked. If that fails nobody knows how it
/// ended, and the driver is told to ask again.
pub async fn acknowledge(engine: &Engine, ticket: Option<Ticket>, mark: Mark) -> Result<()> {
    let Some(ticket) = ticket else { return Ok(()) };
    let outcome = engine.store.reach(ticket, mark).await;
    outcome.map_err(|error| error.label("UnknownTransactionCommitResult"))
}

fn named(engine: &Engine, common: &Common<'_>, command: &str) -> Result<(Arc<Session>, i64)> {
    match (common.session, common.txn_number) {
        (Some(id), Some(number)) => Ok((engine.sessions.get(id)?, number)),
        _ => Err(Code::CommandFailed.error(format!("{command} must be run within a transaction"))),
    }
}
