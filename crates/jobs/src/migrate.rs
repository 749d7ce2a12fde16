//! Documents brought into the bounds of their policies, batch by batch.
//!
//! The server settles each document in a transaction of its own, and compares what
//! it moved before it commits (`migrateGrowth`). What is left to do shows in the
//! documents, so a migration needs no memory: one that was stopped, or killed, is
//! gone on with by the next run.

use crate::progress::Progress;
use crate::stop::Stop;
use crate::verify::{self, Verified};
use crate::{Error, connect, number};
use bson::{Bson, Document, doc};
use mongodb::Database;
use std::time::{Duration, Instant};

/// Documents over their bounds, and failures, that are told one by one.
const TOLD_MAX: usize = 20;
/// What a server moves in a second, for estimates.
const MOVED_BYTES_PER_SECOND: u64 = 20 * 1024 * 1024;
/// Documents that a server looks at in a second, for estimates.
const EXAMINED_PER_SECOND: u64 = 20_000;
/// The longest rest between two batches where no rate is given.
const REST_MAX: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Migrate<'a> {
    pub uri: &'a str,
    pub database: &'a str,
    /// Collections and their policies. They must be set already, unless this is
    /// a dry run.
    pub policies: &'a [(String, Document)],
    /// Documents of one batch.
    pub batch: u32,
    pub pace: Pace,
    /// Tell what would be done, and change nothing.
    pub dry_run: bool,
}

/// How fast a migration goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// It rests after each batch for as long as the batch took.
    Half,
    /// It does not rest.
    Full,
    /// So many documents a second.
    Documents(f64),
}

#[derive(Debug, Default)]
pub struct Migrated {
    pub collections: Vec<Moved>,
    /// It was stopped between two batches.
    pub stopped: bool,
}

/// What has become of a collection, or would.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Moved {
    pub namespace: String,
    pub examined: u64,
    /// Documents brought into bounds.
    pub documents: u64,
    /// Elements moved to pages, the pages, and their bytes.
    pub elements: u64,
    pub pages: u64,
    pub bytes: u64,
    /// Elements dropped, as the policy says.
    pub dropped: u64,
    /// Documents that stay over their bounds: to shrink them is their owner's.
    pub still_over: u64,
    pub over: Vec<String>,
    pub failures: u64,
    pub failed: Vec<String>,
    /// How the collection stands at the end; not in a dry run.
    pub verified: Option<Verified>,
}

impl Migrate<'_> {
    pub async fn run(&self) -> Result<Migrated, Error> {
        let client = connect::client(self.uri).await?;
        let database = client.database(self.database);
        let mut stop = Stop::new();
        let mut migrated = Migrated::default();
        for (collection, policy) in self.policies {
            let mut moved =
                Moved { namespace: format!("{}.{collection}", self.database), ..Moved::default() };
            self.collection(&database, collection, policy, &mut moved, &mut stop).await?;
            if !self.dry_run && !stop.asked {
                let verified = verify::collection(&client, self.database, collection, false);
                moved.verified = Some(verified.await?);
            }
            migrated.collections.push(moved);
            if stop.asked {
                migrated.stopped = true;
                break;
            }
        }
        Ok(migrated)
    }

    async fn collection(
        &self,
        database: &Database,
        collection: &str,
        policy: &Document,
        moved: &mut Moved,
        stop: &mut Stop,
    ) -> Result<(), Error> {
        let total = database.collection::<Document>(collection).estimated_document_count().await?;
        let progress = Progress::documents("migrating", Some(total));
        let mut next: Option<Bson> = None;
        while !stop.asked {
            let mut command = doc! { "migrateGrowth": collection, "limit": i64::from(self.batch) };
            if self.dry_run {
                command.insert("dryRun", true);
                command.insert("policy", policy.clone());
            }
            command.extend(next.take().map(|next| ("after".to_owned(), next)));
            let started = Instant::now();
            let reply = stop.through(database.run_command(command).into_future()).await;
            let reply = reply.map_err(|error| verify::unknown_server(error.into()))?;
            let documents = number(&reply, "documents");
            progress.add(number(&reply, "examined"));
            moved.add(&reply);
            next = reply.get("next").cloned();
            if next.is_none() {
                return Ok(());
            }
            if !self.dry_run {
                stop.rest(self.pace.rest(documents, started.elapsed())).await;
            }
        }
        Ok(())
    }

    /// How long what a dry run has found will take, about.
    pub fn estimate(&self, moved: &Moved) -> Duration {
        let work = moved.bytes as f64 / MOVED_BYTES_PER_SECOND as f64;
        let look = moved.examined as f64 / EXAMINED_PER_SECOND as f64;
        let seconds = match self.pace {
            Pace::Full => work + look,
            Pace::Half => 2.0 * (work + look),
            Pace::Documents(rate) => (work + look).max(moved.documents as f64 / rate),
        };
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

impl Pace {
    /// What is to be rested after a batch that settled so many and took so long.
    fn rest(self, documents: u64, took: Duration) -> Duration {
        match self {
            Pace::Full => Duration::ZERO,
            Pace::Half => took.min(REST_MAX),
            Pace::Documents(rate) => {
                let due = Duration::try_from_secs_f64(documents as f64 / rate);
                due.unwrap_or(Duration::MAX).saturating_sub(took)
            }
        }
    }
}

impl Moved {
    fn add(&mut self, reply: &Document) {
        self.examined += number(reply, "examined");
        self.documents += number(reply, "documents");
        self.elements += number(reply, "elements");
        self.pages += number(reply, "pages");
        self.bytes += number(reply, "bytes");
        self.dropped += number(reply, "dropped");
        self.still_over += number(reply, "stillOver");
        self.failures += number(reply, "failures");
        tell(&mut self.over, reply, "over", verify::over);
        tell(&mut self.failed, reply, "failed", |failed| {
            let id = failed.get("_id").cloned().unwrap_or(Bson::Null);
            format!("{id}: {}", failed.get_str("errmsg").unwrap_or_default())
        });
    }
}

/// Adds lines for the first items of a list.
fn tell(lines: &mut Vec<String>, reply: &Document, list: &str, line: fn(&Document) -> String) {
    let items = reply.get_array(list).map(Vec::as_slice).unwrap_or_default();
    let room = TOLD_MAX.saturating_sub(lines.len());
    lines.extend(items.iter().filter_map(Bson::as_document).take(room).map(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_followed_by_a_rest() {
        let took = Duration::from_millis(300);
        assert_eq!(Pace::Full.rest(50, took), Duration::ZERO);
        assert_eq!(Pace::Half.rest(50, took), took);
        assert_eq!(Pace::Half.rest(50, Duration::from_secs(60)), REST_MAX);
        assert_eq!(Pace::Documents(100.0).rest(50, took), Duration::from_millis(200));
        assert_eq!(Pace::Documents(100.0).rest(10, took), Duration::ZERO);
        assert_eq!(Pace::Documents(1e-300).rest(10, took), Duration::MAX - took);
    }
}
