//! What the store keeps of a session: a row for each statement of its last
//! retryable write, or for a run of inserts, and one for its last committed transaction.
//!
//! A row is part of the very commit that it records. A later number writes
//! over the rows of an earlier one, so that a session that goes on writing does
//! not grow; what is left is removed when the session has expired.

use super::SessionId;
use crate::storage::large::LARGE_VALUE_BYTES;
use crate::storage::{Tree, View, keys};
use crate::transaction::Transaction;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::Bound;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The statement number that stands for a transaction that was committed.
/// No client's statement has it.
pub const COMMITTED: i32 = -2;

/// `<txnNumber: i64> <written: u32> <count: u32>`, and then what the statements
/// answered: a document, or nothing if that is out of line, under the same key.
const HEADER_BYTES: usize = 16;

/// A row's own figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub number: i64,
    /// Seconds since 1970.
    pub written: u32,
    /// How many statements it stands for, from that of its key on.
    pub count: u32,
}

impl Header {
    /// Whether the row was written at least so long ago.
    pub fn is_older(&self, age: Duration) -> bool {
        Duration::from_secs(now().saturating_sub(self.written).into()) >= age
    }

    pub fn read(row: &[u8]) -> Result<Header> {
        let (number, rest) = row.split_first_chunk().ok_or_else(damaged)?;
        let (written, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let count = rest.first_chunk().ok_or_else(damaged)?;
        Ok(Header {
            number: i64::from_be_bytes(*number),
            written: u32::from_be_bytes(*written),
            count: u32::from_be_bytes(*count),
        })
    }
}

/// Statements that are carried out by one commit, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementRun {
    pub first: i32,
    pub count: u32,
}

impl StatementRun {
    pub fn one(statement: i32) -> StatementRun {
        StatementRun { first: statement, count: 1 }
    }

    /// The runs that these statements make up.
    pub fn all(statements: &[i32]) -> impl Iterator<Item = StatementRun> + '_ {
        statements
            .chunk_by(|left, right| left.checked_add(1) == Some(*right))
            .map(|run| StatementRun { first: run[0], count: run.len() as u32 })
    }

    fn holds(self, statement: i32) -> bool {
        (i64::from(self.first)..i64::from(self.first) + i64::from(self.count))
            .contains(&i64::from(statement))
    }
}

/// Adds the row of statements to the commit that carries them out.
pub fn write(
    transaction: &mut Transaction,
    session: SessionId,
    number: i64,
    run: StatementRun,
    answer: &RawDocument,
) {
    let key = keys::statement(session, run.first);
    let mut row = Vec::with_capacity(HEADER_BYTES + answer.as_bytes().len());
    row.extend_from_slice(&number.to_be_bytes());
    row.extend_from_slice(&now().to_be_bytes());
    row.extend_from_slice(&run.count.to_be_bytes());
    if answer.as_bytes().len() > LARGE_VALUE_BYTES {
        transaction.put(Tree::Large, key.clone(), answer.as_bytes());
    } else {
        row.extend_from_slice(answer.as_bytes());
    }
    transaction.put(Tree::Records, key, row);
}

/// What a statement answered under this number, if it was carried out.
pub fn read(
    view: &View,
    session: SessionId,
    number: i64,
    statement: i32,
) -> Result<Option<RawDocumentBuf>> {
    // Most rows are of one statement. Others begin before it, with rows of earlier
    // numbers between.
    let upto = (
        Bound::Included(keys::statement(session, 0)),
        Bound::Included(keys::statement(session, statement)),
    );
    for pair in view.range(Tree::Records, upto).rev() {
        let (key, row) = pair.map_err(crate::storage::failed)?;
        let header = Header::read(&row)?;
        if header.number != number {
            continue;
        }
        let first = keys::statement_number(&key).ok_or_else(damaged)?;
        if !(StatementRun { first, count: header.count }).holds(statement) {
            return Ok(None);
        }
        let answer = match row.get(HEADER_BYTES..).unwrap_or_default() {
            [] => view.get(Tree::Large, &key)?.ok_or_else(damaged)?.to_vec(),
            answer => answer.to_vec(),
        };
        return RawDocumentBuf::from_bytes(answer).map(Some).map_err(|_| damaged());
    }
    Ok(None)
}

/// The highest number that the store knows, and whether it was a transaction's.
pub fn last(view: &View, session: SessionId) -> Result<Option<(i64, bool)>> {
    let mut last = None;
    for pair in view.range(Tree::Records, keys::statements(session)) {
        let (key, row) = pair.map_err(crate::storage::failed)?;
        let number = Header::read(&row)?.number;
        let committed = key == keys::statement(session, COMMITTED);
        if last.is_none_or(|(highest, _)| number > highest) {
            last = Some((number, committed));
        }
    }
    Ok(last)
}

/// Seconds since 1970.
fn now() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as u32
}

fn damaged() -> error::Error {
    Code::DataCorruptionDetected
        .error("the record of a retryable write is damaged; restore the store from a backup")
}
