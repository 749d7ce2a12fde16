//! The engine as the write loop sees it.

mod candidates;
mod check;
mod queries;
mod snapshot;

pub use candidates::RecordCandidates;
pub use queries::WriteQueries;
pub use snapshot::SurveyView;

use crate::Engine;
use crate::catalog::Catalog;
use crate::guarded::WithPolicies;
use crate::operation::{self, Operation};
use crate::plan::{self, Interrupt, Query};
use crate::session::{RetryableCommand, Statement};
use crate::storage::{Mark, Ticket, View};
use crate::transaction::{Proposal, Transaction};
use bson::{RawDocument, RawDocumentBuf};
use command::common::WriteConcern;
use command::{Client, Namespace};
use error::{Error, Result};
use language::Needs;
use parking_lot::Mutex;
use std::sync::Arc;
use value::Collator;
use write::{RetryRecord, Selection, Transactions};

/// The writes of one command.
pub struct Writes {
    engine: Arc<Engine>,
    interrupt: Interrupt,
    /// Where the figures of plans go, if they are wanted.
    noted: Option<Arc<Operation>>,
    /// Whose writes they are.
    client: Option<Arc<Client>>,
    /// Whether hints may name hidden indexes.
    hint_hidden: bool,
    /// The last commit of the command so far.
    last: Mutex<Option<Ticket>>,
    /// The client's transaction that everything is part of.
    home: Option<Arc<Statement>>,
    /// Where the records of a retryable command go.
    retry: Option<Arc<RetryableCommand>>,
}

/// Transactions that see a policy as if it were set. None of them is ever committed.
pub struct DryRun<'a> {
    pub writes: &'a Writes,
    pub proposal: Proposal,
}

impl Writes {
    pub fn new(engine: Arc<Engine>) -> Writes {
        Writes {
            engine,
            interrupt: Interrupt::default(),
            noted: None,
            client: None,
            hint_hidden: false,
            last: Mutex::new(None),
            home: None,
            retry: None,
        }
    }

    /// The writes of a command, which stop when it is to stop.
    pub fn of_command(engine: &Arc<Engine>, operation: &Arc<Operation>) -> Writes {
        Writes {
            interrupt: operation.interrupt.clone(),
            noted: engine.profiles.is_on().then(|| operation.clone()),
            client: Some(operation.client.clone()),
            ..Writes::new(engine.clone())
        }
    }

    /// The same, as part of a client's transaction.
    pub fn at_home(self, home: Option<Arc<Statement>>) -> Writes {
        Writes { home, ..self }
    }

    /// The same, with retry records.
    pub fn recorded_by(self, retry: Option<Arc<RetryableCommand>>) -> Writes {
        Writes { retry, ..self }
    }

    /// The same, stopped by another interrupt.
    #[cfg(test)]
    pub fn stopped_by(self, interrupt: Interrupt) -> Writes {
        Writes { interrupt, ..self }
    }

    /// The same, with hints that may name hidden indexes.
    pub fn hint_hidden(self) -> Writes {
        Writes { hint_hidden: true, ..self }
    }

    async fn submit(&self, transaction: Transaction) -> Result<()> {
        let commit = transaction.into_commit().deferring();
        let ticket = self.engine.store.submit_with_others(commit).await?;
        *self.last.lock() = Some(ticket);
        Ok(())
    }

    /// The collections as the command sees them.
    fn catalog(&self) -> Result<Arc<Catalog>> {
        match &self.home {
            Some(home) => home.catalog().map(Arc::new),
            None => Ok(self.engine.registry.current()),
        }
    }

    /// The documents as the command sees them.
    fn view(&self) -> Result<View> {
        match &self.home {
            Some(home) => home.view(),
            None => Ok(self.engine.store.view()),
        }
    }

    /// Waits until everything written can be read.
    pub async fn applied(&self) -> Result<()> {
        let last = *self.last.lock();
        match last {
            Some(ticket) => self.engine.store.reach(ticket, Mark::Applied).await,
            None => Ok(()),
        }
    }

    /// Waits until everything written is as durable as the write concern demands.
    pub async fn acknowledge(&self, concern: Option<&WriteConcern<'_>>) -> Result<()> {
        let last = *self.last.lock();
        let Some(ticket) = last else { return Ok(()) };
        self.engine.store.reach(ticket, mark(concern)).await?;
        if let Some(client) = &self.client {
            operation::note_commit_of(&self.engine, client, ticket);
        }
        Ok(())
    }
}

/// By default a write is acknowledged once it is on the disk.
pub fn mark(concern: Option<&WriteConcern<'_>>) -> Mark {
    match concern {
        Some(concern) if concern.journal == Some(false) || concern.is_unacknowledged() => {
            Mark::Written
        }
        _ => Mark::Synced,
    }
}

impl Transactions for DryRun<'_> {
    type Transaction = Transaction;
    type Snapshot = SurveyView;

    async fn begin(&self) -> Result<Transaction> {
        let mut transaction = self.writes.begin().await?;
        transaction.propose(&self.proposal).await?;
        Ok(transaction)
    }

    async fn snapshot(&self) -> Result<SurveyView> {
        self.writes.snapshot().await
    }
}

impl Transactions for Writes {
    type Transaction = Transaction;
    type Snapshot = SurveyView;

    async fn begin(&self) -> Result<Transaction> {
        self.interrupt.check()?;
        let transaction = match &self.home {
            Some(home) => home.take()?,
            None => Transaction::begin(self.engine.clone()),
        };
        Ok(transaction.stopped_by(self.interrupt.clone()))
    }

    async fn snapshot(&self) -> Result<SurveyView> {
        // Before the view.
        let catalog = self.catalog()?;
        let view = self.view()?;
        Ok(SurveyView { catalog, view, interrupt: self.interrupt.clone() })
    }
}

impl write::Backend for Writes {
    type Candidates = RecordCandidates;

    fn is_clients(&self) -> bool {
        self.home.is_some()
    }

    async fn commit(&self, mut transaction: Transaction, record: RetryRecord<'_>) -> Result<()> {
        if let Some(home) = &self.home {
            return home.give_back(transaction);
        }
        // What wrote nothing leaves no record: it may as well be carried out again.
        if transaction.is_empty() {
            return Ok(());
        }
        match (&self.retry, record) {
            (Some(retry), RetryRecord::Statement { number, answer }) => {
                retry.record(&mut transaction, number, &answer);
            }
            (Some(retry), RetryRecord::Inserts(numbers)) => {
                retry.record_inserts(&mut transaction, numbers);
            }
            (None, _) | (_, RetryRecord::None) => {}
        }
        self.submit(transaction).await
    }

    async fn select(
        &self,
        namespace: &Namespace,
        selection: &Selection<'_>,
    ) -> Result<RecordCandidates> {
        // The command's own earlier statements must be seen.
        let last = *self.last.lock();
        if let Some(ticket) = last {
            self.engine.store.reach(ticket, Mark::Applied).await?;
        }
        // Before the view, for the pages too.
        let catalog = self.catalog()?;
        let Some(collection) = catalog.get(namespace).cloned() else {
            return Ok(RecordCandidates::none(namespace));
        };
        let mut query = Query::new(selection.filter.clone());
        query.needs = Needs::none();
        query.hint_hidden = self.hint_hidden;
        let WriteQueries { seen, hidden } =
            WriteQueries::new(query, namespace, selection, &catalog, &Needs::none())?;
        let view = self.view()?;
        let open = |query| plan::open(&collection, query, view.clone(), self.interrupt.clone());
        let hidden = hidden.map(open).transpose()?;
        let rows = open(seen)?;
        Ok(RecordCandidates {
            namespace: namespace.clone(),
            collection: Some(collection),
            rows: Some(rows),
            hidden,
            is_hidden: false,
            first_only: self.home.is_some() && !selection.multi,
            noted: self.noted.clone(),
            current: None,
            advanced: 0,
        })
    }
}

impl write::statement::Statements for Writes {
    fn check_target(&self, namespace: &Namespace) -> Result<()> {
        check::check_target(&*self.catalog()?, namespace, self.home.is_some())
    }

    fn collator(&self, namespace: &Namespace) -> Result<Option<Arc<Collator>>> {
        let catalog = self.catalog()?;
        Ok(catalog.get(namespace).and_then(|collection| collection.collator.clone()))
    }

    fn projection(&self, namespace: &Namespace, fields: &RawDocument) -> Option<RawDocumentBuf> {
        let plan = self.engine.registry.look(|it| it.read_plan(namespace, Some(fields)));
        plan.projection().map(RawDocument::to_owned)
    }

    fn is_retryable(&self) -> bool {
        self.retry.is_some()
    }

    fn recorded(&self, number: i32) -> Result<Option<RawDocumentBuf>> {
        let Some(retry) = &self.retry else { return Ok(None) };
        let answer = retry.recorded(&self.engine, number)?;
        if answer.is_some() {
            // It may be applied and not synced yet: then it is to be waited for.
            self.last.lock().get_or_insert(self.engine.store.newest());
        }
        Ok(answer)
    }

    fn of_statement(&self, error: Error) -> Result<Error> {
        check::of_statement(self.home.as_deref(), error)
    }
}
