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
use mongodb::{Client, Database};
use std::time::{Duration, Instant};

/// Documents over their bounds, and failures, that are listed.
const LISTED_MAX: usize = 20;
/// What a server writes in a second, for estimates.
const MOVED_BYTES_PER_SECOND: u64 = 50 * 1024 * 1024;
/// What a server needs to write one document, for estimates.
const SETTLED_PER_DOCUMENT: Duration = Duration::from_micros(250);
/// What a server needs to write or remove one entry of an index, for estimates. Where the array
/// is indexed, that is most of the work: every element has an entry to be removed from the
/// index of the collection, and one in its mirror on the pages.
const WRITTEN_PER_ENTRY: Duration = Duration::from_micros(4);
/// Documents of the first batch. Those after it are larger or smaller, so that each takes about
/// a second: progress shows, and Ctrl-C is answered.
pub const FIRST_BATCH_DOCUMENTS: u32 = 10;
const BATCH_TIME: Duration = Duration::from_secs(1);
/// Where there is a rate, batches are so small that at least so many make a second.
const BATCHES_PER_SECOND: f64 = 4.0;
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
    /// Those that were come to.
    pub collections: Vec<Moved>,
    pub end: End,
}

/// How a migration ended.
#[derive(Debug, Default)]
pub enum End {
    #[default]
    Whole,
    /// It was stopped between two batches.
    Stopped,
    /// It was stopped when all documents of a collection were settled, and not all verified.
    Unverified,
    Failed(Error),
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
    /// Index entries that would be written and removed; of a dry run alone.
    pub entries: u64,
    /// Documents that stay over their bounds: to shrink them is their owner's.
    pub still_over: u64,
    pub over: Vec<String>,
    pub failures: u64,
    pub failed: Vec<String>,
    /// How long the server took.
    pub took: Duration,
    /// How the collection stands at the end; not in a dry run.
    pub verified: Option<Verified>,
}

impl Migrate<'_> {
    /// Whatever ends it, what was done until then is reported.
    pub async fn run(&self) -> Result<Migrated, Error> {
        let client = connect::client(self.uri).await?;
        let mut stop = Stop::new();
        let mut migrated = Migrated::default();
        for (collection, policy) in self.policies {
            let mut moved =
                Moved { namespace: format!("{}.{collection}", self.database), ..Moved::default() };
            let end = self.settle(&client, collection, policy, &mut moved, &mut stop).await;
            migrated.collections.push(moved);
            migrated.end = end.unwrap_or_else(End::Failed);
            if !matches!(migrated.end, End::Whole) {
                break;
            }
        }
        Ok(migrated)
    }

    /// Settles a collection and verifies it.
    async fn settle(
        &self,
        client: &Client,
        collection: &str,
        policy: &Document,
        moved: &mut Moved,
        stop: &mut Stop,
    ) -> Result<End, Error> {
        let database = client.database(self.database);
        self.collection(&database, collection, policy, moved, stop).await?;
        if stop.asked {
            return Ok(End::Stopped);
        }
        if self.dry_run {
            return Ok(End::Whole);
        }
        match verify::collection(client, self.database, collection, false).await {
            Err(Error::Interrupted) => Ok(End::Unverified),
            verified => {
                moved.verified = Some(verified?);
                Ok(End::Whole)
            }
        }
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
        let job = if self.dry_run { "looking" } else { "migrating" };
        let progress = Progress::documents(job, Some(total));
        let most = if self.dry_run { self.batch } else { self.pace.batch(self.batch) };
        let mut limit = most.min(FIRST_BATCH_DOCUMENTS);
        let mut next: Option<Bson> = None;
        while !stop.asked {
            let mut command = doc! { "migrateGrowth": collection, "limit": i64::from(limit) };
            if self.dry_run {
                command.insert("dryRun", true);
                command.insert("policy", policy.clone());
            }
            command.extend(next.take().map(|next| ("after".to_owned(), next)));
            let started = Instant::now();
            let reply = stop.through(database.run_command(command).into_future()).await;
            let reply = reply.map_err(Error::of_policies)?;
            let took = started.elapsed();
            moved.took += took;
            limit = next_batch(limit, most, took);
            progress.add(number(&reply, "examined"));
            moved.add(&reply);
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

    /// How long what a dry run has found will take, about: what the dry run took, which makes
    /// documents and index keys and commits nothing, and the writing. Verifying is taken to last
    /// as long as the dry run, which is more than it does where much is to be settled.
    pub fn estimate(&self, moved: &Moved) -> Duration {
        let documents = moved.documents as f64;
        let look = moved.took.as_secs_f64();
        let write = documents * SETTLED_PER_DOCUMENT.as_secs_f64()
            + moved.bytes as f64 / MOVED_BYTES_PER_SECOND as f64
            + moved.entries as f64 * WRITTEN_PER_ENTRY.as_secs_f64();
        let settle = match self.pace {
            Pace::Full => look + write,
            Pace::Half => 2.0 * (look + write),
            Pace::Documents(rate) => (look + write).max(documents / rate),
        };
        Duration::try_from_secs_f64(settle + look).unwrap_or(Duration::MAX)
    }
}

impl Pace {
    /// How many documents a batch may have where so many are asked for. A large one would
    /// pass the rate, however long the rest after it.
    pub fn batch(self, asked: u32) -> u32 {
        match self {
            Pace::Full | Pace::Half => asked,
            Pace::Documents(rate) => asked.min((rate / BATCHES_PER_SECOND) as u32).max(1),
        }
    }

    /// What is to be rested after a batch that settled so many and took so long.
    pub fn rest(self, documents: u64, took: Duration) -> Duration {
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
        self.entries += number(reply, "indexEntries");
        self.still_over += number(reply, "stillOver");
        self.failures += number(reply, "failures");
        tell(&mut self.over, reply, "over", verify::over);
        tell(&mut self.failed, reply, "failed", verify::failed);
    }
}

/// How many documents the next batch has where one of so many took so long.
pub fn next_batch(documents: u32, most: u32, took: Duration) -> u32 {
    match took {
        slow if slow > BATCH_TIME => documents / 2,
        fast if fast < BATCH_TIME / 4 => documents.saturating_mul(2),
        _ => documents,
    }
    .clamp(1, most)
}

/// Adds lines for the first items of a list.
pub fn tell(lines: &mut Vec<String>, reply: &Document, list: &str, line: fn(&Document) -> String) {
    let items = reply.get_array(list).map(Vec::as_slice).unwrap_or_default();
    let room = LISTED_MAX.saturating_sub(lines.len());
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

    #[test]
    fn a_batch_takes_about_a_second() {
        let [fast, right, slow] = [20, 600, 8_000].map(Duration::from_millis);
        assert_eq!(next_batch(10, 100, fast), 20);
        assert_eq!(next_batch(80, 100, fast), 100);
        assert_eq!(next_batch(10, 100, right), 10);
        assert_eq!(next_batch(10, 100, slow), 5);
        assert_eq!(next_batch(1, 100, slow), 1);
    }

    #[test]
    fn a_rate_is_kept_within_a_second() {
        assert_eq!(Pace::Full.batch(100), 100);
        assert_eq!(Pace::Half.batch(100), 100);
        assert_eq!(Pace::Documents(20.0).batch(100), 5);
        assert_eq!(Pace::Documents(20.0).batch(3), 3);
        assert_eq!(Pace::Documents(1e9).batch(100), 100);
        assert_eq!(Pace::Documents(0.01).batch(100), 1);
        // A batch and its rest: so many documents in no less than they may take.
        for rate in [0.5, 7.0, 20.0, 333.0] {
            let pace = Pace::Documents(rate);
            let documents = pace.batch(100);
            let took = Duration::from_millis(1);
            let all = took + pace.rest(u64::from(documents), took);
            assert!(f64::from(documents) <= rate * all.as_secs_f64() + 1e-6, "{rate}");
            assert!(documents == 1 || all <= Duration::from_millis(251), "{rate}");
        }
    }

    #[test]
    fn an_estimate_is_made_of_what_the_dry_run_took_and_what_is_written() {
        let migrate = |pace| Migrate {
            uri: "",
            database: "d",
            policies: &[],
            batch: 100,
            pace,
            dry_run: true,
        };
        let seconds = |pace, moved: &Moved| migrate(pace).estimate(moved).as_secs_f64().round();
        let took = Duration::from_secs(3);
        let look =
            Moved { examined: 600_001, documents: 1, bytes: 40_000, took, ..Moved::default() };
        assert_eq!(seconds(Pace::Full, &look), 6.0);
        assert_eq!(seconds(Pace::Half, &look), 9.0);
        let many = Moved { documents: 40_000, bytes: 50 << 20, ..look };
        assert_eq!(seconds(Pace::Full, &many), 17.0);
        assert_eq!(seconds(Pace::Documents(100.0), &many), 403.0);
        let indexed = Moved { entries: 10_000_000, ..many };
        assert_eq!(seconds(Pace::Full, &indexed), 57.0);
    }
}
