//! The backfill of a policy: documents that are over its bounds are brought into them, a batch
//! at a time and a transaction a document.
//!
//! What is left to do shows in the documents themselves, so that a migration is idempotent: one
//! that was broken off is resumed by starting over, and `after` only saves the way. A dry run is
//! the same work in transactions that are rolled back.

mod batch;

pub use batch::MigratedBatch;

use crate::Roles;
use crate::adopt::{Aim, rehearse_settle, settle};
use crate::patterns::place;
use crate::policy::Policy;
use crate::survey::{Documents, Survey};
use bson::{RawBson, RawBsonRef};
use error::{Error, Result};
use std::ops::Deref;
use std::time::{Duration, Instant};
use write::{Backend, Snapshot, Transaction, Transactions};

/// How long one batch looks for documents to settle.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// What one batch moves, unless a single document moves more.
const MOVED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The next batch of a collection.
#[derive(Debug, Clone, Copy)]
pub struct Migration<'a> {
    pub policy: &'a Policy,
    /// The `_id` that the batch before came to.
    pub after: Option<RawBsonRef<'a>>,
    /// How many documents are settled at most.
    pub limit: usize,
}

impl Migration<'_> {
    /// Settles the documents of the batch. `failed` says whose failure an error is: one
    /// document's, or (`Err`) that of the whole batch.
    pub async fn run<B>(
        &self,
        backend: &B,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<MigratedBatch>
    where
        B: Backend,
        B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
    {
        let mut batch = MigratedBatch::default();
        let work = self.look(&mut backend.snapshot().await?, &mut batch).await?;
        for id in work {
            let (namespace, document) = (&self.policy.namespace, id.as_raw_bson_ref());
            let settled = settle(backend, namespace, document, Aim::Bounds).await;
            batch.note(id, settled, failed)?;
        }
        Ok(batch)
    }

    /// What `run` would do: each document is settled in a transaction that is rolled back. The
    /// policy need not be set, as long as transactions of the source see it.
    pub async fn dry_run<S>(
        &self,
        source: &S,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<MigratedBatch>
    where
        S: Transactions,
        S::Transaction: Transaction<Guard: Deref<Target = Roles>>,
    {
        let mut batch = MigratedBatch { entries: Some(0), ..MigratedBatch::default() };
        let work = self.look(&mut source.snapshot().await?, &mut batch).await?;
        for id in work {
            let (namespace, document) = (&self.policy.namespace, id.as_raw_bson_ref());
            let rehearsed = rehearse_settle(source, namespace, document, Aim::Bounds).await?;
            let entries = batch.entries.zip(rehearsed.entries);
            batch.entries = entries.map(|(sum, entries)| sum + entries);
            batch.note(id, rehearsed.outcome, failed)?;
        }
        Ok(batch)
    }

    /// Looks for documents to settle, and gives back their `_id`s.
    async fn look<S: Snapshot>(
        &self,
        snapshot: &mut S,
        batch: &mut MigratedBatch,
    ) -> Result<Vec<RawBson>> {
        let started = Instant::now();
        let survey = Survey { policy: self.policy, costs: true };
        let (mut work, mut found_bytes) = (Vec::new(), 0);
        let mut documents = Documents::after(&self.policy.namespace, self.after);
        while let Some(row) = documents.next(snapshot).await? {
            let (row, need) = survey.need(snapshot, &row).await?;
            let id = place::id(&row);
            batch.examined += 1;
            found_bytes += need.bytes;
            match need.is_work() {
                true => work.push(id.into()),
                false => batch.leave(id, need.over),
            }
            let full = work.len() >= self.limit || found_bytes >= MOVED_BYTES_MAX;
            if full || started.elapsed() >= LOOK_MAX {
                batch.next = Some(id.into());
                break;
            }
        }
        Ok(work)
    }
}
