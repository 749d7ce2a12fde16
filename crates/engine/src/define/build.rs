//! Filling new indexes of a live collection.
//!
//! Writers maintain a new index from the moment it is registered. The builder
//! goes through the collection in chunks and, holding the intents of a chunk's
//! documents, adds the entries of each as it is then: a document changed before
//! its turn is seen changed, one changed after it is the writer's business.

use super::indexes::built;
use crate::Engine;
use crate::catalog::{Collection, Index};
use crate::operation;
use crate::plan::Interrupt;
use crate::storage::{IndexId, Mark, RecordId, Ticket};
use crate::transaction::Transaction;
use command::Namespace;
use error::{Code, Result};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Documents whose intents are held at once.
const CHUNK_DOCUMENTS: usize = 512;
/// What the entries of one commit may weigh before the next document begins another.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// How far a build, or other long work, has come, for `currentOp`.
#[derive(Debug, Default)]
pub struct Progress {
    pub done: AtomicU64,
    pub total: AtomicU64,
    pub interrupt: Interrupt,
    /// What it is, if it is no build.
    pub what: Option<&'static str>,
}

impl Progress {
    /// That of work which stops with the command that it is done for.
    pub fn of_command() -> Progress {
        Progress { interrupt: operation::interrupt(), ..Progress::default() }
    }
}

pub(super) struct Build<'a> {
    pub engine: &'a Arc<Engine>,
    pub namespace: &'a Namespace,
    pub ids: &'a [IndexId],
    pub progress: &'a Progress,
}

impl Build<'_> {
    pub async fn run(&self) -> Result<()> {
        let Some(collection) = self.engine.registry.get(self.namespace) else { return Ok(()) };
        let counts = self.engine.store.view().counts(collection.id)?;
        self.progress.total.store(counts.documents, Ordering::Relaxed);
        let mut from = Bound::Unbounded;
        let mut last = self.engine.store.newest();
        loop {
            self.progress.interrupt.check()?;
            self.engine.store.space().check()?;
            let chunk = self.next(&collection, from)?;
            let Some(end) = chunk.last() else { return Ok(()) };
            from = Bound::Excluded(*end);
            let added = self.add(&chunk).await?;
            // One chunk is made while another is applied, and no more wait for it.
            self.engine.store.reach(last, Mark::Applied).await?;
            last = added;
            self.progress.done.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    /// The next documents. Each time they are looked for as things stand then: a view that
    /// lasts keeps everything in memory that is written meanwhile.
    fn next(&self, collection: &Collection, from: Bound<RecordId>) -> Result<Vec<RecordId>> {
        let view = self.engine.store.view();
        let records = view.records(collection.id, (from, Bound::Unbounded)).take(CHUNK_DOCUMENTS);
        records.map(|record| Ok(record?.0)).collect()
    }

    /// Adds a chunk together; if others are in the way, one by one.
    async fn add(&self, chunk: &[RecordId]) -> Result<Ticket> {
        match self.add_together(chunk).await {
            Err(error) if error.code() == Code::WriteConflict => {
                for record in chunk {
                    self.add_one(*record).await?;
                }
                Ok(self.engine.store.newest())
            }
            outcome => outcome,
        }
    }

    async fn add_together(&self, chunk: &[RecordId]) -> Result<Ticket> {
        let mut transaction = self.begin();
        let (mut collection, mut indexes) = self.indexes(&mut transaction).await?;
        for record in chunk {
            // A document may have very many keys.
            if transaction.size_bytes() >= CHUNK_BYTES {
                self.commit(std::mem::replace(&mut transaction, self.begin())).await?;
                (collection, indexes) = self.indexes(&mut transaction).await?;
            }
            transaction.index_record(&collection, &indexes, *record).await?;
        }
        self.engine.store.submit(transaction.into_commit())
    }

    async fn add_one(&self, record: RecordId) -> Result<()> {
        let mut transaction = self.begin();
        let (collection, indexes) = self.indexes(&mut transaction).await?;
        while let Err(error) = transaction.index_record(&collection, &indexes, record).await {
            if error.code() != Code::WriteConflict {
                return Err(error);
            }
            transaction.start_over().await?;
        }
        self.commit(transaction).await
    }

    async fn commit(&self, transaction: Transaction) -> Result<()> {
        self.engine.store.commit(transaction.into_commit(), Mark::Applied).await?;
        Ok(())
    }

    fn begin(&self) -> Transaction {
        Transaction::begin(self.engine.clone()).stopped_by(self.progress.interrupt.clone())
    }

    async fn indexes(
        &self,
        transaction: &mut Transaction,
    ) -> Result<(Arc<Collection>, Vec<Arc<Index>>)> {
        let collection = transaction.enter(self.namespace).await?.ok_or_else(|| {
            Code::NamespaceNotFound
                .error(format!("collection {} was dropped during the build", self.namespace))
        })?;
        let indexes = built(&collection, self.ids)?;
        Ok((collection, indexes))
    }
}
