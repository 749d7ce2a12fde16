//! Retryable writes: what is kept of a statement, so that its repetition is recognised.

use crate::Updated;
use bson::RawDocumentBuf;
use error::Result;
use std::fmt;

/// The record of what a transaction carries out. It commits with that, or not at all.
#[derive(Debug, Default)]
pub enum RetryRecord<'a> {
    /// It is not retryable.
    #[default]
    None,
    /// Inserts by their statement numbers. They answer nothing.
    Inserts(&'a [i32]),
    Statement {
        number: i32,
        answer: RawDocumentBuf,
    },
}

/// A retryable update of one document.
#[derive(Clone, Copy)]
pub struct Retry<'a, D> {
    /// The number of the statement.
    pub number: i32,
    /// What it answers, once it is carried out.
    pub answer: &'a (dyn Fn(&D) -> Result<RawDocumentBuf> + Sync),
}

impl<D> Retry<'_, D> {
    pub fn record(&self, done: &D) -> Result<RetryRecord<'static>> {
        Ok(RetryRecord::Statement { number: self.number, answer: (self.answer)(done)? })
    }
}

impl<D> fmt::Debug for Retry<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A retryable update.
pub type RetryUpdate<'a> = Retry<'a, Updated>;
