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
use crate::storage::{IndexId, RecordId};
use crate::transaction::Transaction;
use command::Namespace;
use error::{Code, Result};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Documents whose intents are held at once.
const CHUNK_DOCUMENTS: usize = 512;

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
        let view = self.engine.store.view();
        let Some(collection) = self.engine.registry.get(self.namespace) else { return Ok(()) };
        self.progress.total.store(view.counts(collection.id)?.documents, Ordering::Relaxed);
        let mut records = view.records(collection.id, (Bound::Unbounded, Bound::Unbounded));
        let mut chunk = Vec::with_capacity(CHUNK_DOCUMENTS);
        loop {
            self.progress.interrupt.check()?;
            self.engine.store.space().check()?;
            chunk.clear();
            for record in records.by_ref().take(CHUNK_DOCUMENTS) {
                chunk.push(record?.0);
            }
            if chunk.is_empty() {
                return Ok(());
            }
            self.add(&chunk).await?;
            self.progress.done.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    /// Adds a chunk together; if others are in the way, one by one.
    async fn add(&self, chunk: &[RecordId]) -> Result<()> {
        match self.add_together(chunk).await {
            Err(error) if error.code() == Code::WriteConflict => {
                for record in chunk {
                    self.add_one(*record).await?;
                }
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn add_together(&self, chunk: &[RecordId]) -> Result<()> {
        let mut transaction = self.begin();
        let (collection, indexes) = self.indexes(&mut transaction).await?;
        for record in chunk {
            transaction.index_record(&collection, &indexes, *record).await?;
        }
        self.engine.store.submit(transaction.into_commit())?;
        Ok(())
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
        self.engine.store.submit(transaction.into_commit())?;
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
