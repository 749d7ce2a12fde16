//! The engine as the write loop sees it.

use super::Call;
use crate::Engine;
use crate::catalog::Collection;
use crate::operation::Operation;
use crate::plan::{self, Execution, Hint, Interrupt, Query, Sort};
use crate::storage::{Mark, RecordId, Ticket};
use crate::transaction::{Row, Transaction};
use command::Namespace;
use command::common::WriteConcern;
use error::Result;
use language::Needs;
use parking_lot::Mutex;
use std::sync::Arc;
use write::Selection;

/// Candidates between two chances for other tasks.
const CANDIDATES_PER_TURN: usize = 128;

/// The writes of one command.
pub struct Writes {
    engine: Arc<Engine>,
    interrupt: Interrupt,
    /// Where the figures of plans go, if they are wanted.
    noted: Option<Arc<Operation>>,
    /// The last commit of the command so far.
    last: Mutex<Option<Ticket>>,
}

impl Writes {
    pub fn new(engine: Arc<Engine>) -> Writes {
        Writes { engine, interrupt: Interrupt::default(), noted: None, last: Mutex::new(None) }
    }

    /// The writes of a command, which stop when it is to stop.
    pub fn of(call: Call<'_>) -> Writes {
        let engine = call.engine.clone();
        let noted = engine.profiles.is_on().then(|| call.operation.clone());
        let interrupt = call.operation.interrupt.clone();
        Writes { engine, interrupt, noted, last: Mutex::new(None) }
    }

    /// Waits until everything written can be read.
    pub async fn applied(&self) -> Result<()> {
        let last = *self.last.lock();
        match last {
            Some(ticket) => self.engine.store.reach(ticket, Mark::Applied).await,
            None => Ok(()),
        }
    }

    /// Waits until everything written is as safe as the client asks.
    pub async fn acknowledge(&self, concern: Option<&WriteConcern<'_>>) -> Result<()> {
        let last = *self.last.lock();
        let Some(ticket) = last else { return Ok(()) };
        self.engine.store.reach(ticket, mark(concern)).await
    }
}

/// By default a write is acknowledged once it is on the disk.
fn mark(concern: Option<&WriteConcern<'_>>) -> Mark {
    match concern {
        Some(concern) if concern.journal == Some(false) || concern.is_unacknowledged() => {
            Mark::Written
        }
        _ => Mark::Synced,
    }
}

impl write::Backend for Writes {
    type Transaction = Transaction;
    type Candidates = Candidates;

    async fn begin(&self) -> Result<Transaction> {
        self.interrupt.check()?;
        Ok(Transaction::begin(self.engine.clone()))
    }

    async fn commit(&self, transaction: Transaction) -> Result<()> {
        let ticket = self.engine.store.submit(transaction.into_commit())?;
        *self.last.lock() = Some(ticket);
        Ok(())
    }

    async fn select(&self, namespace: &Namespace, selection: &Selection<'_>) -> Result<Candidates> {
        // The command's own earlier statements must be seen.
        let last = *self.last.lock();
        if let Some(ticket) = last {
            self.engine.store.reach(ticket, Mark::Applied).await?;
        }
        let Some(collection) = self.engine.registry.get(namespace) else {
            return Ok(Candidates::none(namespace));
        };
        let mut query = Query::new(selection.filter.clone());
        query.needs = Needs::none();
        query.sort = selection.sort.map(Sort::parse).transpose()?.unwrap_or_default();
        query.hint = selection.hint.map(Hint::parse).transpose()?.flatten();
        query.collator = selection.filter.collator().cloned();
        let view = self.engine.store.view();
        let rows = plan::open(&collection, query, view, self.interrupt.clone())?;
        Ok(Candidates {
            namespace: namespace.clone(),
            collection: Some(collection),
            rows: Some(rows),
            noted: self.noted.clone(),
            current: None,
            advanced: 0,
        })
    }
}

/// Records that matched when the statement began.
pub struct Candidates {
    namespace: Namespace,
    collection: Option<Arc<Collection>>,
    rows: Option<Execution>,
    noted: Option<Arc<Operation>>,
    current: Option<RecordId>,
    advanced: usize,
}

impl Candidates {
    fn none(namespace: &Namespace) -> Candidates {
        Candidates {
            namespace: namespace.clone(),
            collection: None,
            rows: None,
            noted: None,
            current: None,
            advanced: 0,
        }
    }
}

impl Drop for Candidates {
    fn drop(&mut self) {
        if let (Some(operation), Some(rows)) = (&self.noted, &self.rows) {
            operation.note(rows);
        }
    }
}

impl write::Candidates<Transaction> for Candidates {
    async fn advance(&mut self) -> Result<bool> {
        let Some(rows) = &mut self.rows else { return Ok(false) };
        self.advanced += 1;
        if self.advanced.is_multiple_of(CANDIDATES_PER_TURN) {
            tokio::task::yield_now().await;
        }
        let row = if rows.is_light() { rows.next() } else { super::blocking(|| rows.next()) };
        match row.transpose()? {
            Some(row) => {
                self.current = Some(row.record);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    async fn claim(&mut self, transaction: &mut Transaction, needs: &Needs) -> Result<Option<Row>> {
        let (Some(selected), Some(record)) = (&self.collection, self.current) else {
            return Ok(None);
        };
        let Some(collection) = transaction.enter(&self.namespace).await? else { return Ok(None) };
        // A collection made anew under the same name has other records.
        if collection.id != selected.id {
            return Ok(None);
        }
        transaction.claim(&collection, record, needs).await
    }
}
