//! Filling new indexes of a live collection.
//!
//! Writers maintain a new index from the moment it is registered. The builder
//! goes through the collection in chunks and, holding the intents of a chunk's
//! documents, adds the entries of each as it is then: a document changed before
//! its turn is seen changed, one changed after it is the writer's business.
//!
//! A build gives way: its commits are small, it has one of them in the queue at a time, and it
//! waits while the trees are behind.

use super::indexes::built;
use crate::Engine;
use crate::catalog::{Collection, Index};
use crate::operation::WorkProgress;
use crate::storage::{IndexId, Mark, RecordId, Staged, Ticket};
use crate::transaction::Transaction;
use command::Namespace;
use error::{Code, Result};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Documents whose intents are held at once.
const CHUNK_DOCUMENTS: usize = 512;
/// What the entries of one commit may weigh, and how many they may be, before the next document
/// begins another. Other writers wait for each.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
const CHUNK_ENTRIES: u64 = 2 * 1024;
/// How long a commit waits for the trees to catch up. What keeps them behind for longer may not
/// be the build.
const CATCH_UP_MAX: Duration = Duration::from_secs(1);
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(5);

pub(super) struct Build<'a> {
    pub engine: &'a Arc<Engine>,
    pub namespace: &'a Namespace,
    pub ids: &'a [IndexId],
    pub progress: &'a WorkProgress,
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
            last = self.add(&chunk, last).await?;
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

    /// Adds a chunk together; if others are in the way, one by one. `last` is the commit before
    /// it.
    async fn add(&self, chunk: &[RecordId], mut last: Ticket) -> Result<Ticket> {
        match self.add_together(chunk, last).await {
            Err(error) if error.code() == Code::WriteConflict => {
                for record in chunk {
                    last = self.add_one(*record, last).await?;
                }
                Ok(last)
            }
            outcome => outcome,
        }
    }

    async fn add_together(&self, chunk: &[RecordId], mut last: Ticket) -> Result<Ticket> {
        let mut transaction = self.begin();
        let (mut collection, mut indexes) = self.indexes(&mut transaction).await?;
        for record in chunk {
            // A document may have very many keys.
            if transaction.size_bytes() >= CHUNK_BYTES
                || transaction.index_entries() >= CHUNK_ENTRIES
            {
                let full = std::mem::replace(&mut transaction, self.begin());
                last = self.commit(full, last).await?;
                (collection, indexes) = self.indexes(&mut transaction).await?;
            }
            transaction.index_record(&collection, &indexes, *record).await?;
        }
        self.commit(transaction, last).await
    }

    async fn add_one(&self, record: RecordId, last: Ticket) -> Result<Ticket> {
        let mut transaction = self.begin();
        let (collection, indexes) = self.indexes(&mut transaction).await?;
        while let Err(error) = transaction.index_record(&collection, &indexes, record).await {
            if error.code() != Code::WriteConflict {
                return Err(error);
            }
            transaction.start_over().await?;
        }
        self.commit(transaction, last).await
    }

    /// Hands a commit in once the last one is settled: one is made while another is applied,
    /// and no more wait for it.
    async fn commit(&self, transaction: Transaction, last: Ticket) -> Result<Ticket> {
        let store = &self.engine.store;
        store.reach(last, Mark::Settled).await?;
        let until = Instant::now() + CATCH_UP_MAX;
        while store.is_behind() && Instant::now() < until {
            self.progress.interrupt.check()?;
            tokio::time::sleep(CATCH_UP_INTERVAL).await;
        }
        let mut commit = transaction.into_commit().deferring();
        let staged = store.stage(&mut commit).await?;
        staged.into_iter().for_each(Staged::keep);
        store.submit(commit)
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
