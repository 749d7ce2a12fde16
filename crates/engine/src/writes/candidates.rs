//! The records that a statement may write to.

use crate::catalog::Collection;
use crate::operation::Operation;
use crate::plan::{Execution, ResultRow};
use crate::storage::RecordId;
use crate::transaction::{Row, Transaction};
use command::Namespace;
use error::Result;
use language::Needs;
use std::sync::Arc;
use write::{Guard, StoredRow as _, Transaction as _};

/// Candidates between two chances for other tasks.
const CANDIDATES_PER_TURN: usize = 128;

/// Records that matched when the statement began.
pub struct RecordCandidates {
    pub(super) namespace: Namespace,
    pub(super) collection: Option<Arc<Collection>>,
    pub(super) rows: Option<Execution>,
    /// Those that match by what no filter sees: looked for once there are no others.
    pub(super) hidden: Option<Execution>,
    /// Whether the current one is of these.
    pub(super) is_hidden: bool,
    /// In a client's transaction nothing changes meanwhile: the first candidate is
    /// the one, and its view is let go before it is written to, so that what is written needs no
    /// layer of its own.
    pub(super) first_only: bool,
    pub(super) noted: Option<Arc<Operation>>,
    pub(super) current: Option<RecordId>,
    pub(super) advanced: usize,
}

impl RecordCandidates {
    pub fn none(namespace: &Namespace) -> RecordCandidates {
        RecordCandidates {
            namespace: namespace.clone(),
            collection: None,
            rows: None,
            hidden: None,
            is_hidden: false,
            first_only: false,
            noted: None,
            current: None,
            advanced: 0,
        }
    }
}

impl RecordCandidates {
    /// The next that matches; after all others those that do by what no filter sees.
    fn next(&mut self) -> Option<Result<ResultRow>> {
        loop {
            let rows = self.rows.as_mut()?;
            let row = if rows.is_light() { rows.next() } else { turn::aside(|| rows.next()) };
            if row.is_some() || self.hidden.is_none() {
                return row;
            }
            self.note();
            self.rows = self.hidden.take();
            self.is_hidden = true;
        }
    }

    /// Leaves the plan's figures with the operation.
    fn note(&self) {
        if let (Some(operation), Some(rows)) = (&self.noted, &self.rows) {
            operation.note(rows);
        }
    }
}

impl Drop for RecordCandidates {
    fn drop(&mut self) {
        self.note();
    }
}

impl write::Candidates<Transaction> for RecordCandidates {
    async fn advance(&mut self) -> Result<bool> {
        self.advanced += 1;
        if self.advanced.is_multiple_of(CANDIDATES_PER_TURN) {
            tokio::task::yield_now().await;
        }
        let Some(row) = self.next().transpose()? else { return Ok(false) };
        self.current = Some(row.record);
        if self.first_only {
            self.note();
            (self.rows, self.hidden) = (None, None);
        }
        Ok(true)
    }

    async fn claim(&mut self, transaction: &mut Transaction, needs: &Needs) -> Result<Option<Row>> {
        let (Some(selected), Some(record)) = (&self.collection, self.current) else {
            return Ok(None);
        };
        let Some(collection) = transaction.enter(&self.namespace).await? else { return Ok(None) };
        // A collection created again under the same name has other records.
        if collection.id != selected.id {
            return Ok(None);
        }
        let row = transaction.claim(&collection, record, needs).await?;
        if !self.is_hidden {
            return Ok(row);
        }
        // Without pages it was a candidate before, if it is one.
        let guard = transaction.guard(&self.namespace).await?;
        let has_pages = |row: &Row| {
            let guard = guard.as_deref();
            guard.is_some_and(|guard| Guard::<Transaction>::shows_more(guard, row.version()))
        };
        Ok(row.filter(has_pages))
    }
}
