//! One collection after the other: ask, scan, judge, and keep only what the report needs.

use super::ask::{Unknown, ask};
use super::census::Census;
use super::detectors::{self, Subject};
use super::facts::{Collection, Notes, Server, ShardKey};
use super::fold::by_cause;
use super::join::join_policies;
use super::options::{Options, Reach, SAMPLE_DOCUMENTS};
use super::outline::{self, Outline};
use super::scan::{End, Pace, Plan, Progress, Scan};
use super::target::Target;
use crate::report::{self, Finding};
use command::Namespace;
use futures::stream::{self, StreamExt};
use jobs::explain;
use mongodb::error::{Error, ErrorKind};
use rustc_hash::{FxHashMap, FxHashSet};
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
/// What a collection may take in any case: a server that stalls for a moment is waited for.
const SHARE_MIN: Duration = Duration::from_secs(10);
const UNBOUNDED: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What came of all collections.
#[derive(Debug, Default)]
pub struct Visited {
    pub outlines: Vec<Outline>,
    pub shown: Vec<report::Collection>,
    pub findings: Vec<Finding>,
    pub notes: Notes,
    pub bytes: u64,
    /// Collections with bytes that the sample does not account for.
    pub unseen: Vec<String>,
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
    /// The names of all collections, by database.
    names: FxHashMap<Box<str>, FxHashSet<String>>,
    now: i64,
}

/// What came of one.
struct Seen {
    outline: Outline,
    shown: report::Collection,
    findings: Vec<Finding>,
    notes: Notes,
    bytes: u64,
    unseen: bool,
    sharded: bool,
    end: End,
}

/// How a look at one went.
struct Looked {
    end: End,
    /// Whether every document was read.
    whole: bool,
    /// Whether there are bytes that the sample does not account for.
    unseen: bool,
}

impl Looked {
    /// Before a document was read.
    fn nothing(end: End) -> Looked {
        Looked { end, whole: false, unseen: false }
    }
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
    let mut names: FxHashMap<Box<str>, FxHashSet<String>> = FxHashMap::default();
    for Collection { namespace, .. } in &collections {
        let of_database = names.entry(namespace.database.to_string().into()).or_default();
        of_database.insert(namespace.collection.to_string());
    }
    let progress = Progress::new(collections.len());
    let visit = Visit { options, server, pace, stop, progress, left, names, now };
    let lanes = match options.reach {
        Reach::Budgeted | Reach::Sample(_) => LANES_SAMPLE,
        Reach::Full => LANES_FULL,
    };
    let visits = collections.into_iter().map(|collection| visit.one(collection));
    let mut visits = stream::iter(visits).buffered(lanes);
    let mut visited = Visited::default();
    let (mut late, mut interrupted) = (0, 0);
    while let Some(seen) = visits.next().await {
        late += u64::from(seen.end == End::OutOfTime);
        interrupted += u64::from(seen.end == End::Interrupted);
        visited.sharded |= seen.sharded;
        if seen.unseen {
            visited.unseen.push(seen.shown.namespace.clone());
        }
        visited.outlines.push(seen.outline);
        visited.shown.push(seen.shown);
        visited.findings.extend(seen.findings);
        visited.notes.append(seen.notes);
        visited.bytes += seen.bytes;
    }
    if late > 0 {
        let why = "the time budget was used up; collections not looked at, or in part:";
        visited.notes.miss(None, format!("{why} {late}"));
    }
    if interrupted > 0 {
        let why = "interrupted; collections not looked at, or in part:";
        visited.notes.miss(None, format!("{why} {interrupted}"));
    }
    visit.progress.clear();
    visited
}

impl Visit<'_> {
    async fn one(&self, mut collection: Collection) -> Seen {
        let until = self.until();
        self.progress.say(&collection.namespace.to_string());
        let mut notes = Notes::default();
        let mut census = Census::new(self.now);
        let progress = self.progress.of_collection();
        let looked = self.look(&mut collection, &mut census, until, &mut notes, &progress).await;
        progress.finish();
        self.left.fetch_sub(1, Ordering::Relaxed);
        note_census(&collection, &census, &mut notes);
        let target = self.server.target;
        let none = FxHashSet::default();
        let findings = detectors::look_at_collection(&Subject {
            collection: &collection,
            census: &census,
            target,
            limits: target.limits(),
            thresholds: &self.options.thresholds,
            names: self.names.get(&*collection.namespace.database).unwrap_or(&none),
            now: self.now,
        });
        let mut findings = by_cause(findings);
        join_policies(&collection, &mut findings);
        Seen {
            outline: Outline::new(&collection, &census),
            shown: outline::shown(&collection, &census, looked.whole),
            findings,
            notes,
            bytes: u64::try_from(census.sizes.sum()).unwrap_or(u64::MAX),
            unseen: looked.unseen,
            sharded: collection.shard_key.is_some(),
            end: looked.end,
        }
    }

    /// When the time for the next collection is up: nobody takes the time of all others.
    fn until(&self) -> Option<Instant> {
        let until = self.pace.until?;
        let left = until.saturating_duration_since(Instant::now());
        let collections = self.left.load(Ordering::Relaxed).max(1);
        let share = left / u32::try_from(collections).unwrap_or(u32::MAX) * SHARES;
        Some(Instant::now() + share.max(SHARE_MIN).min(left))
    }

    async fn look(
        &self,
        collection: &mut Collection,
        census: &mut Census,
        until: Option<Instant>,
        notes: &mut Notes,
        progress: &Progress,
    ) -> Looked {
        if self.stop.is_cancelled() {
            return Looked::nothing(End::Interrupted);
        }
        if self.pace.until.is_some_and(|until| until <= Instant::now()) {
            return Looked::nothing(End::OutOfTime);
        }
        if !collection.kind.is_scanned() {
            return Looked { end: End::Complete, whole: true, unseen: false };
        }
        let started = Instant::now();
        let asking = tokio::time::timeout(left(until), ask(&self.server.client, collection));
        let unknown = match self.stop.run_until_cancelled(asking).await {
            None => return Looked::nothing(End::Interrupted),
            Some(Err(_)) => return Looked::nothing(End::OutOfTime),
            Some(Ok(unknown)) => unknown,
        };
        let _ = self.stop.run_until_cancelled(self.pace.keep(started.elapsed(), 0)).await;
        if collection.shard_key.is_none() {
            collection.shard_key = ShardKey::intended(&collection.indexes);
        }
        if let Some(shard_key) = &collection.shard_key {
            census.follow(&shard_key.key);
        }
        let looked = self.read(collection, census, until, notes, progress).await;
        note_unknown(&collection.namespace, looked.as_ref().err(), unknown, notes);
        looked.unwrap_or(Looked { end: End::Complete, whole: false, unseen: false })
    }

    /// Reads documents; fails where the server refuses to go on.
    async fn read(
        &self,
        collection: &Collection,
        census: &mut Census,
        until: Option<Instant>,
        notes: &mut Notes,
        progress: &Progress,
    ) -> Result<Looked, Error> {
        let scan = Scan {
            client: &self.server.client,
            collection,
            samples_cheaply: self.server.kind.limits().samples_cheaply,
            plain: &self.server.plain,
            reach: self.options.reach,
            pace: self.pace,
            until,
            stop: self.stop,
        };
        let plan = scan.plan();
        progress.expect(match plan {
            Plan::All => collection.documents.unwrap_or(0),
            Plan::Some(count) => collection.documents.unwrap_or(count).min(count),
        });
        let mut end = match scan.run(plan, census, progress).await {
            Err(error) if is_out_of_time(&error) => End::OutOfTime,
            Err(error) => {
                note_failure(&collection.namespace, census.documents(), &error, notes);
                return Err(error);
            }
            Ok(end) => end,
        };
        let whole = plan == Plan::All && end == End::Complete;
        // More than a sample was tried for, and there was time for one.
        let enough = census.documents() >= SAMPLE_DOCUMENTS;
        if end == End::OutOfTime && self.options.reach == Reach::Budgeted && enough {
            end = End::Complete;
        }
        if whole {
            note_vanished(collection, census.documents(), notes);
        }
        let sampled = !whole && end == End::Complete;
        let unseen = sampled && self.is_unseen(&scan, census, notes).await;
        Ok(Looked { end, whole, unseen })
    }

    /// Whether a sample leaves large documents out, and they could not be found either.
    async fn is_unseen(&self, scan: &Scan<'_>, census: &mut Census, notes: &mut Notes) -> bool {
        let Some(bytes) = scan.unseen_bytes(census) else { return false };
        let statistics = self.server.kind == Target::Freeboard;
        let looking = tokio::time::timeout(left(scan.until), scan.outliers(census, statistics));
        let found = self.stop.run_until_cancelled(looking).await;
        if let Some(Ok(Ok(true))) = found {
            return false;
        }
        let bytes = crate::figures::bytes(bytes);
        let why = "documents are larger on average than those of the sample";
        notes.of(
            &scan.collection.namespace,
            format!("{why}: {bytes} are in documents that were not seen; --full reads them all"),
        );
        true
    }
}

/// That reading a collection failed.
fn note_failure(namespace: &Namespace, seen: u64, error: &Error, notes: &mut Notes) {
    let what = match seen {
        0 => "it cannot be read".to_owned(),
        1 => "reading ended after 1 document".to_owned(),
        seen => format!("reading ended after {seen} documents"),
    };
    notes.miss(Some(namespace.to_string()), format!("{what}: {}", explain(error)));
}

/// What the server did not answer of a collection; one refusal of everything is noted once.
fn note_unknown(
    namespace: &Namespace,
    failed: Option<&Error>,
    unknown: Vec<Unknown>,
    notes: &mut Notes,
) {
    let noted = failed.and_then(code);
    for Unknown { what, error, missed } in unknown {
        if noted.is_some() && code(&error) == noted {
            continue;
        }
        let note = format!("{what}: {}", explain(&error));
        match missed {
            true => notes.miss(Some(namespace.to_string()), note),
            false => notes.of(namespace, note),
        }
    }
}

/// Documents that were there when the server was asked, and not when they were read.
fn note_vanished(collection: &Collection, seen: u64, notes: &mut Notes) {
    // Shards count documents that are not theirs any more.
    let sharded = collection.shard_key.as_ref().is_some_and(|key| key.in_use);
    let vanished = collection.documents.unwrap_or(0).saturating_sub(seen);
    if vanished == 0 || sharded {
        return;
    }
    let namespace = &collection.namespace;
    match seen {
        0 => notes.miss(
            Some(namespace.to_string()),
            format!("of its documents, {vanished} by the server's count, none was read"),
        ),
        _ => notes.of(namespace, format!("documents that vanished while it was read: {vanished}")),
    }
}

fn note_census(collection: &Collection, census: &Census, notes: &mut Notes) {
    let namespace = &collection.namespace;
    if census.broken > 0 {
        let ids: Vec<String> = census.broken_ids.iter().map(ToString::to_string).collect();
        notes.of(
            namespace,
            format!(
                "{} invalid UTF-8, counted in part; _id {}",
                match census.broken {
                    1 => "1 document has".to_owned(),
                    broken => format!("{broken} documents have"),
                },
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
