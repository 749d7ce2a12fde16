//! What a session is at: its highest number, and what became of it.

use super::SessionId;
use crate::plan::Interrupt;
use crate::storage::Ticket;
use crate::transaction::Transaction;
use command::Client;
use command::common::ReadLevel;
use error::{Code, Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct SessionState {
    /// Whether what the store knows of the session has been read.
    pub loaded: bool,
    /// The highest number so far; below 0 before the first.
    pub number: i64,
    pub phase: Phase,
}

/// What the highest number is used for.
pub(super) enum Phase {
    /// Retryable writes, or nothing yet.
    Writes,
    Open(Box<OpenPhase>),
    /// With its commit, unless that was before a restart or wrote nothing.
    Committed(Option<Ticket>),
    Aborted,
}

/// A transaction that is neither committed nor aborted.
pub(super) struct OpenPhase {
    pub started: Instant,
    /// `started`, by the clock on the wall.
    pub began: bson::DateTime,
    pub level: ReadLevel,
    /// Away while a statement runs.
    pub parked: Option<Transaction>,
    pub running: Option<RunningStatement>,
    /// How long statements have run, the present one not counted.
    pub active: Duration,
    /// Whose statement was the last.
    pub client: Arc<Client>,
}

/// A statement that runs.
pub(super) struct RunningStatement {
    pub since: Instant,
    /// What stops it.
    pub interrupt: Interrupt,
}

impl RunningStatement {
    pub fn new(interrupt: &Interrupt) -> RunningStatement {
        RunningStatement { since: Instant::now(), interrupt: interrupt.clone() }
    }
}

impl OpenPhase {
    /// Puts the transaction aside after a statement.
    pub fn park(&mut self, transaction: Transaction) {
        if let Some(running) = self.running.take() {
            self.active += running.since.elapsed();
        }
        self.parked = Some(transaction);
    }
}

impl Default for SessionState {
    fn default() -> SessionState {
        SessionState { loaded: false, number: -1, phase: Phase::Writes }
    }
}

impl SessionState {
    /// A retryable write under a number. Says whether the number is new, and what
    /// transaction it puts an end to.
    pub fn write(
        &mut self,
        session: SessionId,
        number: i64,
    ) -> Result<(bool, Option<Box<OpenPhase>>)> {
        if number < self.number {
            return Err(Code::TransactionTooOld.error(format!(
                "Retryable write with txnNumber {number} is prohibited on session {} because a \
                 newer retryable write with txnNumber {} has already started on this session.",
                shown(session),
                self.number
            )));
        }
        if number > self.number {
            return Ok((true, self.advance(number, Phase::Writes)));
        }
        match self.phase {
            Phase::Writes => Ok((false, None)),
            _ => Err(Code::InvalidOptions.error(
                "Must specify autocommit=false on all operations of a multi-statement transaction.",
            )),
        }
    }

    /// Whether a transaction may begin under a number.
    pub fn check_start(&self, session: SessionId, number: i64) -> Result<()> {
        if number < self.number {
            return Err(self.too_old(session, number));
        }
        if number == self.number {
            return Err(Code::ConflictingOperationInProgress.error(format!(
                "txnNumber {number} for session {} already started",
                shown(session)
            )));
        }
        Ok(())
    }

    /// Goes on to a higher number, and gives back the transaction it puts an end to.
    pub fn advance(&mut self, number: i64, phase: Phase) -> Option<Box<OpenPhase>> {
        self.number = number;
        match std::mem::replace(&mut self.phase, phase) {
            Phase::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The open transaction with this number.
    pub fn open(&mut self, session: SessionId, number: i64) -> Result<&mut OpenPhase> {
        if number < self.number {
            return Err(self.too_old(session, number));
        }
        let active = self.number;
        match &mut self.phase {
            _ if number > active => Err(unknown(number, active)),
            Phase::Writes => Err(unknown(number, active)),
            Phase::Open(open) => Ok(open),
            Phase::Committed(_) => Err(committed(number)),
            Phase::Aborted => Err(aborted(number)),
        }
    }

    /// Ends the open transaction, if there is one, and gives it back.
    pub fn abort(&mut self) -> Option<Box<OpenPhase>> {
        if !matches!(self.phase, Phase::Open(_)) {
            return None;
        }
        match std::mem::replace(&mut self.phase, Phase::Aborted) {
            Phase::Open(open) => Some(open),
            _ => None,
        }
    }

    fn too_old(&self, session: SessionId, number: i64) -> Error {
        Code::TransactionTooOld.error(format!(
            "Cannot start transaction with {{ txnNumber: {number} }} on session {} because a newer \
             transaction with txnNumber {{ txnNumber: {} }} has already started on this session.",
            shown(session),
            self.number
        ))
    }
}

pub(super) fn aborted(number: i64) -> Error {
    Code::NoSuchTransaction
        .error(format!("Transaction with {{ txnNumber: {number} }} has been aborted."))
}

fn committed(number: i64) -> Error {
    Code::TransactionCommitted
        .error(format!("Transaction with {{ txnNumber: {number} }} has been committed."))
}

fn unknown(number: i64, active: i64) -> Error {
    Code::NoSuchTransaction.error(format!(
        "Given transaction number {number} does not match any in-progress transactions. The active \
         transaction number is {active}"
    ))
}

pub(super) fn shown(session: SessionId) -> bson::Uuid {
    bson::Uuid::from_bytes(session)
}
