//! One collection after the other: ask, scan, judge, and keep only what the report needs.

use super::census::Census;
use super::detectors::{self, Subject};
use super::facts::{Collection, Index, Notes, Server, ShardKey};
use super::join::join_policies;
use super::options::{Options, Reach};
use super::outline::{self, Outline};
use super::scan::{End, Pace, Progress, Scan};
use crate::report::{self, Finding};
use bson::{Bson, Document, doc};
use command::Namespace;
use futures::stream::{self, StreamExt, TryStreamExt};
use jobs::explain;
use mongodb::error::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Collections that are looked at at once, where each takes little: asking takes longer
/// than counting. Each may hold a census and a batch.
const LANES_SAMPLE: usize = 3;
const LANES_FULL: usize = 1;
/// A collection may take so many times its share of the time that is left.
const SHARES: u32 = 4;
const UNBOUNDED: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What came of all collections.
#[derive(Debug, Default)]
pub struct Visited {
    pub outlines: Vec<Outline>,
    pub shown: Vec<report::Collection>,
    pub findings: Vec<Finding>,
    pub notes: Notes,
    pub bytes: u64,
    /// Whether all that was asked for was looked at.
    pub complete: bool,
    /// Whether any collection has a shard key.
    pub sharded: bool,
}

struct Visit<'a> {
    options: &'a Options,
    server: &'a Server,
    pace: &'a Arc<Pace>,
    stop: &'a CancellationToken,
    progress: Progress,
    /// Collections that are not done.
    left: AtomicUsize,
    now: i64,
}

/// What came of one.
struct Seen {
    outline: Outline,
    shown: report::Collection,
    findings: Vec<Finding>,
    notes: Notes,
    bytes: u64,
    sharded: bool,
    end: End,
}

pub async fn all(
    options: &Options,
    server: &Server,
    collections: Vec<Collection>,
    pace: &Arc<Pace>,
    stop: &CancellationToken,
) -> Visited {
    let left = AtomicUsize::new(collections.len());
    let now = bson::DateTime::now().timestamp_millis();
    let visit = Visit { options, server, pace, stop, progress: Progress::new(), left, now };
    let lanes = match options.reach {
        Reach::Sample(_) => LANES_SAMPLE,
        Reach::Full => LANES_FULL,
    };
    let visits = collections.into_iter().map(|collection| visit.one(collection));
    let mut visits = stream::iter(visits).buffered(lanes);
    let mut visited = Visited { complete: true, ..Visited::default() };
    let (mut late, mut interrupted) = (0, 0);
    while let Some(seen) = visits.next().await {
        late += u64::from(seen.end == End::OutOfTime);
        interrupted += u64::from(seen.end == End::Interrupted);
        visited.sharded |= seen.sharded;
        visited.outlines.push(seen.outline);
        visited.shown.push(seen.shown);
        visited.findings.extend(seen.findings);
        visited.notes.append(seen.notes);
        visited.bytes += seen.bytes;
    }
    if late > 0 {
        let why = "the time budget was used up; collections not looked at, or in part:";
        visited.notes.add(format!("{why} {late}"));
    }
    if interrupted > 0 {
        let why = "interrupted; collections not looked at, or in part:";
        visited.notes.add(format!("{why} {interrupted}"));
    }
    visited.complete = late + interrupted == 0;
    visited
}

impl Visit<'_> {
    async fn one(&self, mut collection: Collection) -> Seen {
        let until = self.until();
        self.progress.say(&collection.namespace.to_string());
        let mut notes = Notes::default();
        let mut census = Census::new(self.now);
        let end = self.look(&mut collection, &mut census, until, &mut notes).await;
        self.left.fetch_sub(1, Ordering::Relaxed);
        note_census(&collection, &census, &mut notes);
        let target = self.server.target;
        let mut findings = detectors::look_at_collection(&Subject {
            collection: &collection,
            census: &census,
            target,
            limits: target.limits(),
            thresholds: &self.options.thresholds,
            now: self.now,
        });
        join_policies(&collection, &mut findings);
        Seen {
            outline: Outline::new(&collection, &census),
            shown: outline::shown(&collection, &census),
            findings,
            notes,
            bytes: u64::try_from(census.sizes.sum()).unwrap_or(u64::MAX),
            sharded: collection.shard_key.is_some(),
            end,
        }
    }

    /// When the time for the next collection is up: nobody takes the time of all others.
    fn until(&self) -> Option<Instant> {
        let until = self.pace.until?;
        let left = until.saturating_duration_since(Instant::now());
        let collections = self.left.load(Ordering::Relaxed).max(1);
        let share = left / u32::try_from(collections).unwrap_or(u32::MAX) * SHARES;
        Some(Instant::now() + share.min(left))
    }

    async fn look(
        &self,
        collection: &mut Collection,
        census: &mut Census,
        until: Option<Instant>,
        notes: &mut Notes,
    ) -> End {
        if self.stop.is_cancelled() {
            return End::Interrupted;
        }
        if self.pace.until.is_some_and(|until| until <= Instant::now()) {
            return End::OutOfTime;
        }
        if !collection.kind.is_scanned() {
            return End::Complete;
        }
        let started = Instant::now();
        let asking = tokio::time::timeout(left(until), self.ask(collection));
        let unknown = match self.stop.run_until_cancelled(asking).await {
            None => return End::Interrupted,
            Some(Err(_)) => return End::OutOfTime,
            Some(Ok(unknown)) => unknown,
        };
        let _ = self.stop.run_until_cancelled(self.pace.keep(started.elapsed(), 0)).await;
        if collection.shard_key.is_none() {
            collection.shard_key = ShardKey::intended(&collection.indexes);
        }
        if let Some(shard_key) = &collection.shard_key {
            census.follow(&shard_key.key);
        }
        let expected = match self.options.reach {
            Reach::Sample(count) => collection.documents.unwrap_or(count).min(count),
            Reach::Full => collection.documents.unwrap_or(0),
        };
        self.progress.expect(expected);
        let scan = Scan {
            client: &self.server.client,
            collection,
            samples_cheaply: self.server.kind.limits().samples_cheaply,
            reach: self.options.reach,
            pace: self.pace,
            until,
            stop: self.stop,
        };
        let (end, failed) = match scan.run(census, &self.progress).await {
            Ok(end) => (end, None),
            Err(error) if is_out_of_time(&error) => (End::OutOfTime, None),
            Err(error) => (End::Complete, Some(error)),
        };
        if end == End::Complete && failed.is_none() && self.options.reach == Reach::Full {
            note_vanished(collection, census.documents(), notes);
        }
        note_failures(&collection.namespace, census.documents(), failed.as_ref(), &unknown, notes);
        end
    }

    /// What the server knows of a collection without looking at its documents; what it does
    /// not tell, and why.
    async fn ask(&self, collection: &mut Collection) -> Vec<(&'static str, Error)> {
        let (size, indexes, uses) = tokio::join!(
            self.ask_size(collection),
            self.ask_indexes(collection),
            self.ask_index_use(collection)
        );
        let mut unknown = Vec::new();
        match size {
            Ok((documents, bytes)) => (collection.documents, collection.bytes) = (documents, bytes),
            Err(error) => unknown.push(("its size is not known", error)),
        }
        match (indexes, uses) {
            (Ok(indexes), uses) => {
                collection.indexes = indexes;
                match uses {
                    Ok(uses) => collection.add_index_uses(&uses),
                    Err(error) => unknown.push(("how its indexes are used is not known", error)),
                }
            }
            (Err(error), _) => unknown.push(("its indexes cannot be listed", error)),
        }
        unknown
    }

    /// Documents and bytes.
    async fn ask_size(&self, collection: &Collection) -> Result<(Option<u64>, Option<u64>)> {
        let handle = self.handle(collection);
        let stages = [doc! { "$collStats": { "storageStats": {}, "count": {} } }];
        let rows: Vec<Document> = handle.aggregate(stages).await?.try_collect().await?;
        let mut documents = None;
        let mut bytes = None;
        // A row for each shard.
        for row in &rows {
            let storage = row.get_document("storageStats").ok();
            let count = whole(row.get("count").or(storage.and_then(|it| it.get("count"))));
            let size = whole(storage.and_then(|it| it.get("size")));
            documents = add(documents, count);
            bytes = add(bytes, size);
        }
        Ok((documents, bytes))
    }

    async fn ask_indexes(&self, collection: &Collection) -> Result<Vec<Index>> {
        let name = &*collection.namespace.collection;
        let database = self.server.client.database(&collection.namespace.database);
        let list = doc! { "listIndexes": name };
        let specs: Vec<Document> = database.run_cursor_command(list).await?.try_collect().await?;
        Ok(specs.into_iter().map(Index::new).collect())
    }

    async fn ask_index_use(&self, collection: &Collection) -> Result<Vec<Document>> {
        let stages = [doc! { "$indexStats": {} }];
        self.handle(collection).aggregate(stages).await?.try_collect().await
    }

    fn handle(&self, collection: &Collection) -> mongodb::Collection<Document> {
        let database = self.server.client.database(&collection.namespace.database);
        database.collection(&collection.namespace.collection)
    }
}

/// What of a collection could not be looked at. Who may read nothing of it is told so once.
fn note_failures(
    namespace: &Namespace,
    seen: u64,
    failed: Option<&Error>,
    unknown: &[(&str, Error)],
    notes: &mut Notes,
) {
    if let Some(error) = failed {
        let what = match seen {
            0 => "it cannot be read".to_owned(),
            seen => format!("reading ended after {seen} documents"),
        };
        notes.of(namespace, format!("{what}: {}", explain(error)));
    }
    let told = failed.and_then(code);
    for (what, error) in unknown {
        if told.is_none() || code(error) != told {
            notes.of(namespace, format!("{what}: {}", explain(error)));
        }
    }
}

/// Documents that were there when the server was asked, and not when they were read.
fn note_vanished(collection: &Collection, seen: u64, notes: &mut Notes) {
    // Shards count documents that are not theirs any more.
    let sharded = collection.shard_key.as_ref().is_some_and(|key| key.in_use);
    let vanished = collection.documents.unwrap_or(0).saturating_sub(seen);
    if vanished > 0 && !sharded {
        let note = format!("documents that vanished while it was read: {vanished}");
        notes.of(&collection.namespace, note);
    }
}

fn note_census(collection: &Collection, census: &Census, notes: &mut Notes) {
    let namespace = &collection.namespace;
    if census.broken > 0 {
        let ids: Vec<String> = census.broken_ids.iter().map(ToString::to_string).collect();
        notes.of(
            namespace,
            format!(
                "{} documents have invalid UTF-8 and were counted in part; _id {}",
                census.broken,
                ids.join(", ")
            ),
        );
    }
    if census.tree.cut > 0 {
        let paths = census.tree.paths();
        notes.of(namespace, format!("it has more than {paths} paths; the others were not counted"));
    }
}

/// MaxTimeMSExpired: a command that took the rest of the time.
fn is_out_of_time(error: &Error) -> bool {
    const MAX_TIME_MS_EXPIRED: i32 = 50;
    code(error) == Some(MAX_TIME_MS_EXPIRED)
}

/// The code that a server refused a command with.
fn code(error: &Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(error) => Some(error.code),
        _ => None,
    }
}

/// The time until then; without a bound, more than anything takes.
fn left(until: Option<Instant>) -> Duration {
    until.map_or(UNBOUNDED, |until| until.saturating_duration_since(Instant::now()))
}

fn whole(value: Option<&Bson>) -> Option<u64> {
    match value? {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        Bson::Double(number) => Some(*number as u64),
        _ => None,
    }
}

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    Some(sum.unwrap_or(0) + more?)
}
