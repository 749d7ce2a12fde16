//! A policy is left: the elements go back from the pages into their documents, a batch at a time
//! and a transaction a document.
//!
//! While that goes on the policy is `leaving`. It holds for a document as long as that has pages.
//! The others are free of it (`is_free`), so that what has been restored does not overflow again;
//! counters that they have left go with the next write, or as they are restored (`is_restored`).
//! What is left to do shows in the documents, so that a restoration is idempotent, as a migration
//! is: one that was broken off is resumed by starting over.

mod batch;
mod document;

pub use batch::RestoredBatch;
pub use document::{RestoredDocument, TooLargeArray};

use crate::Roles;
use crate::adopt::rehearse;
use crate::patterns::overflow::{Seen, has_pages};
use crate::patterns::place;
use crate::policy::{Overflow, Policy};
use crate::survey::Documents;
use bson::{RawBson, RawBsonRef};
use document::Restore;
use error::{Error, Result};
use language::Needs;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use write::{Backend, Snapshot, StoredRow, Transaction, Transactions, Version, in_transaction};

/// How long one batch looks for documents, and how long it goes on to restore them.
const BATCH_TIME_MAX: Duration = Duration::from_secs(1);
/// What one batch moves, unless a single document moves more.
const MOVED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Whether a document is free of a policy that is being left: it has no pages, and no write gives
/// it any.
pub fn is_free(policy: &Policy, version: Version<'_>) -> bool {
    let has_pages = |rule: &Arc<Overflow>| has_pages(version, rule);
    policy.leaving && version.sidecar.is_none() && !policy.overflows().any(has_pages)
}

/// Whether nothing of its policy is left in a document: neither pages nor counters.
fn is_restored(policy: &Policy, version: Version<'_>) -> bool {
    !policy.overflows().any(|rule| Seen::of(version, rule).says_something())
}

/// What of a document must be loaded to see that.
fn counters(policy: &Policy) -> Needs {
    Needs::Paths(policy.overflows().flat_map(|rule| rule.named()).cloned().collect())
}

/// The next batch of a collection whose policy is being left.
#[derive(Debug, Clone, Copy)]
pub struct Restoration<'a> {
    pub policy: &'a Policy,
    /// The `_id` that the batch before came to.
    pub after: Option<RawBsonRef<'a>>,
    /// How many documents are restored at most.
    pub limit: usize,
}

/// A document that is not free.
struct Found {
    id: RawBson,
    /// How many the batch had looked at then.
    examined: u64,
}

impl RestoredBatch {
    /// Ends it with a document: those behind are for the next batch, which looks at them again.
    fn end(&mut self, last: RawBson, examined: u64) {
        (self.next, self.examined) = (Some(last), examined);
    }

    /// Whether one that began then has done enough.
    fn is_full(&self, started: Instant) -> bool {
        self.bytes >= MOVED_BYTES_MAX || started.elapsed() >= BATCH_TIME_MAX
    }
}

impl Restoration<'_> {
    /// Restores the documents of the batch. `failed` says whose failure an error is: one
    /// document's, or (`Err`) that of the whole batch.
    pub async fn run<B>(
        &self,
        backend: &B,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<RestoredBatch>
    where
        B: Backend,
        B::Transaction: Transaction<Guard: Deref<Target = Roles>>,
    {
        let mut batch = RestoredBatch::default();
        let work = self.look(&mut backend.snapshot().await?, &mut batch).await?;
        let started = Instant::now();
        for Found { id, examined } in work {
            let mut restore =
                Restore { namespace: &self.policy.namespace, id: id.as_raw_bson_ref() };
            let restored = in_transaction(backend, &mut restore).await;
            batch.note(id.clone(), restored, failed)?;
            if batch.is_full(started) {
                batch.end(id, examined);
                break;
            }
        }
        Ok(batch)
    }

    /// What `run` would do: each document is restored in a transaction that is rolled back. The
    /// policy need not be left, as long as transactions of the source see it so.
    pub async fn dry_run<S>(
        &self,
        source: &S,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<RestoredBatch>
    where
        S: Transactions,
        S::Transaction: Transaction<Guard: Deref<Target = Roles>>,
    {
        let mut batch = RestoredBatch::default();
        let work = self.look(&mut source.snapshot().await?, &mut batch).await?;
        let started = Instant::now();
        for Found { id, examined } in work {
            let mut restore =
                Restore { namespace: &self.policy.namespace, id: id.as_raw_bson_ref() };
            let rehearsed = rehearse(source, &mut restore).await?;
            batch.note(id.clone(), rehearsed.outcome, failed)?;
            if batch.is_full(started) {
                batch.end(id, examined);
                break;
            }
        }
        Ok(batch)
    }

    /// Looks for documents that are not restored, and gives them back.
    async fn look<S: Snapshot>(
        &self,
        snapshot: &mut S,
        batch: &mut RestoredBatch,
    ) -> Result<Vec<Found>> {
        let started = Instant::now();
        let needs = counters(self.policy);
        let mut work = Vec::new();
        let mut documents = Documents::after(&self.policy.namespace, self.after);
        while let Some(row) = documents.next(snapshot).await? {
            let row = snapshot.load(&row, &needs).await?;
            let id = place::id(&row);
            batch.examined += 1;
            if !is_restored(self.policy, row.version()) {
                work.push(Found { id: id.into(), examined: batch.examined });
            }
            if work.len() >= self.limit || started.elapsed() >= BATCH_TIME_MAX {
                batch.next = Some(id.into());
                break;
            }
        }
        Ok(work)
    }
}
