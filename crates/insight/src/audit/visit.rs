//! One collection after the other: ask, scan, judge, and keep only what the report needs.

use super::census::Census;
use super::detectors::{self, Subject};
use super::facts::{Collection, Index, Notes, Server};
use super::join::join_policies;
use super::options::{Options, Reach};
use super::outline::{self, Outline};
use super::scan::{End, Pace, Progress, Scan};
use crate::error::explain;
use crate::report::{self, Finding};
use bson::{Bson, Document, doc};
use futures::stream::{self, StreamExt, TryStreamExt};
use mongodb::error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Collections that are looked at at once, where each takes little: asking takes longer
/// than counting. Each may hold a census and a batch.
const LANES_SAMPLE: usize = 3;
const LANES_FULL: usize = 1;
/// A collection may take so many times its share of the time that is left.
const SHARES: u32 = 4;

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
        let asking = self.ask(collection, notes);
        if self.stop.run_until_cancelled(asking).await.is_none() {
            return End::Interrupted;
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
        match scan.run(census, &self.progress).await {
            Ok(end) => end,
            Err(error) if is_out_of_time(&error) => End::OutOfTime,
            Err(error) => {
                let seen = census.documents();
                let why = format!("reading ended after {seen} documents: {}", explain(&error));
                notes.of(&collection.namespace, why);
                End::Complete
            }
        }
    }

    /// What the server knows of a collection without looking at its documents.
    async fn ask(&self, collection: &mut Collection, notes: &mut Notes) {
        let started = Instant::now();
        if let Err(error) = self.ask_size(collection).await {
            let why = format!("its size is not known: {}", explain(&error));
            notes.of(&collection.namespace, why);
        }
        match self.ask_indexes(collection).await {
            Ok(()) => {
                if let Err(error) = self.ask_index_use(collection).await {
                    let why = format!("how its indexes are used is not known: {}", explain(&error));
                    notes.of(&collection.namespace, why);
                }
            }
            Err(error) => {
                let why = format!("its indexes cannot be listed: {}", explain(&error));
                notes.of(&collection.namespace, why);
            }
        }
        self.pace.keep(started.elapsed(), 0).await;
    }

    async fn ask_size(&self, collection: &mut Collection) -> Result<()> {
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
        (collection.documents, collection.bytes) = (documents, bytes);
        Ok(())
    }

    async fn ask_indexes(&self, collection: &mut Collection) -> Result<()> {
        let name = &*collection.namespace.collection;
        let database = self.server.client.database(&collection.namespace.database);
        let list = doc! { "listIndexes": name };
        let specs: Vec<Document> = database.run_cursor_command(list).await?.try_collect().await?;
        collection.indexes = specs.into_iter().map(Index::new).collect();
        Ok(())
    }

    async fn ask_index_use(&self, collection: &mut Collection) -> Result<()> {
        let handle = self.handle(collection);
        let mut rows = handle.aggregate([doc! { "$indexStats": {} }]).await?;
        while let Some(row) = rows.try_next().await? {
            let name = row.get_str("name").unwrap_or("");
            if let Some(index) = collection.indexes.iter_mut().find(|it| it.name == name) {
                index.add_use(&row);
            }
        }
        Ok(())
    }

    fn handle(&self, collection: &Collection) -> mongodb::Collection<Document> {
        let database = self.server.client.database(&collection.namespace.database);
        database.collection(&collection.namespace.collection)
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
fn is_out_of_time(error: &mongodb::error::Error) -> bool {
    const MAX_TIME_MS_EXPIRED: i32 = 50;
    match &*error.kind {
        mongodb::error::ErrorKind::Command(error) => error.code == MAX_TIME_MS_EXPIRED,
        _ => false,
    }
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
