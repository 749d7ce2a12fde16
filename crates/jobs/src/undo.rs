//! Policies left again: elements put back from the pages into their documents, batch by batch.
//!
//! The server restores each document in a transaction of its own, and drops the policy with the
//! last batch (`migrateGrowth` with `undo`). What is left to do shows in the documents, so that
//! one that was stopped, or killed, is gone on with by the next run.

use crate::migrate::{End, FIRST_BATCH_DOCUMENTS, Pace, next_batch, tell};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{Error, connect, number, verify};
use bson::{Bson, Document, doc};
use mongodb::{Client, Database};
use std::time::Instant;

/// Passes over a collection, as many as the server makes by itself (`dropGrowthPolicy`): clients
/// may write as fast as documents are restored.
const PASSES_MAX: usize = 5;

#[derive(Debug)]
pub struct Undo<'a> {
    pub uri: &'a str,
    /// The databases and names of collections.
    pub collections: &'a [(String, String)],
    /// Documents of one batch.
    pub batch: u32,
    pub pace: Pace,
    /// Report what would be done, and change nothing.
    pub dry_run: bool,
}

#[derive(Debug, Default)]
pub struct Undone {
    /// Those that were come to.
    pub collections: Vec<Restored>,
    pub end: End,
}

/// What has become of a collection, or would.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Restored {
    pub namespace: String,
    /// Whether it had a policy at all.
    pub had_policy: bool,
    /// Documents of the last pass,
    pub examined: u64,
    /// and those restored in all passes.
    pub documents: u64,
    /// The elements of arrays that had pages, the pages that are gone, and what the arrays weigh.
    pub elements: u64,
    pub pages: u64,
    pub bytes: u64,
    /// Documents that would be too large, and the first of them in words.
    pub too_large: u64,
    pub left: Vec<String>,
    pub failures: u64,
    pub failed: Vec<String>,
    /// Whether the policy is gone.
    pub dropped: bool,
}

impl Undo<'_> {
    /// Whatever ends it, what was done until then is reported.
    pub async fn run(&self) -> Result<Undone, Error> {
        let client = connect::client(self.uri).await?;
        let mut stop = Stop::new();
        let mut undone = Undone::default();
        for (database, collection) in self.collections {
            let namespace = format!("{database}.{collection}");
            let mut restored = Restored { namespace, ..Restored::default() };
            let end = self.undo(&client, database, collection, &mut restored, &mut stop).await;
            undone.collections.push(restored);
            undone.end = end.unwrap_or_else(End::Failed);
            if !matches!(undone.end, End::Whole) {
                break;
            }
        }
        Ok(undone)
    }

    /// Restores a collection, in as many passes as it takes, up to a few.
    async fn undo(
        &self,
        client: &Client,
        database: &str,
        collection: &str,
        restored: &mut Restored,
        stop: &mut Stop,
    ) -> Result<End, Error> {
        let database = client.database(database);
        let known = database.run_command(doc! { "getGrowthPolicy": collection }).await;
        let known = known.map_err(Error::of_policies)?;
        restored.had_policy = known.get_document("policy").is_ok();
        if !restored.had_policy {
            return Ok(End::Whole);
        }
        for _ in 0..PASSES_MAX {
            let documents = restored.documents;
            restored.begin_pass();
            self.pass(&database, collection, restored, stop).await?;
            if restored.dropped {
                break;
            }
            if stop.asked {
                return Ok(End::Stopped);
            }
            if self.dry_run || restored.documents == documents {
                break;
            }
        }
        Ok(End::Whole)
    }

    async fn pass(
        &self,
        database: &Database,
        collection: &str,
        restored: &mut Restored,
        stop: &mut Stop,
    ) -> Result<(), Error> {
        let total = database.collection::<Document>(collection).estimated_document_count().await?;
        let job = if self.dry_run { "looking" } else { "restoring" };
        let progress = Progress::documents(job, Some(total));
        let most = if self.dry_run { self.batch } else { self.pace.batch(self.batch) };
        let mut limit = most.min(FIRST_BATCH_DOCUMENTS);
        let mut next: Option<Bson> = None;
        while !stop.asked {
            let limited = i64::from(limit);
            let mut command = doc! { "migrateGrowth": collection, "undo": true, "limit": limited };
            command.extend(self.dry_run.then(|| ("dryRun".to_owned(), true.into())));
            command.extend(next.take().map(|next| ("after".to_owned(), next)));
            let started = Instant::now();
            let reply = stop.through(database.run_command(command).into_future()).await?;
            let took = started.elapsed();
            limit = next_batch(limit, most, took);
            progress.add(number(&reply, "examined"));
            restored.add(&reply);
            next = reply.get("next").cloned();
            if next.is_none() {
                return Ok(());
            }
            if !self.dry_run {
                stop.rest(self.pace.rest(number(&reply, "documents"), took)).await;
            }
        }
        Ok(())
    }
}

impl Restored {
    /// What is left is counted once more.
    fn begin_pass(&mut self) {
        (self.examined, self.too_large, self.failures) = (0, 0, 0);
        self.left.clear();
        self.failed.clear();
    }

    fn add(&mut self, reply: &Document) {
        self.examined += number(reply, "examined");
        self.documents += number(reply, "documents");
        self.elements += number(reply, "elements");
        self.pages += number(reply, "pages");
        self.bytes += number(reply, "bytes");
        self.too_large += number(reply, "tooLarge");
        self.failures += number(reply, "failures");
        self.dropped |= reply.get_bool("dropped").unwrap_or(false);
        tell(&mut self.left, reply, "left", verify::over);
        tell(&mut self.failed, reply, "failed", verify::failed);
    }
}
