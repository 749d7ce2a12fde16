//! The pass over a collection's documents: batch by batch, as raw BSON, none of them kept.
//!
//! The next batch is fetched while the last one is walked. Between batches the pace is
//! kept: a share of the time is left to the server's own clients, more of it while the
//! server answers slowly.
//!
//! A scan sends what every compatible server understands. Where one refuses an option that
//! only helps (`comment`, `maxTimeMS`), it is left out from then on; where one refuses a way
//! of sampling, the next simpler one is taken.

mod outliers;
mod pace;
mod progress;
mod sample;

pub use pace::Pace;
pub use progress::Progress;

use super::census::Census;
use super::facts::Collection;
use super::options::{Reach, SAMPLE_DOCUMENTS};
use bson::{Bson, Document, doc};
use futures::StreamExt;
use guard::policy::Keep;
use mongodb::Client;
use mongodb::error::{Error, ErrorKind, Result};
use mongodb::raw_batch_cursor::{RawBatch, RawBatchCursor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use value::Element;
use value::element::{array_elements, get_value};

/// Bytes and documents that a batch is to have at most.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
const BATCH_DOCUMENTS_MAX: u64 = 4_000;
/// What reading a document costs beside its bytes, as bytes.
const DOCUMENT_COST_BYTES: f64 = 200.0;
/// The bytes of a document where the server does not say.
const UNKNOWN_BYTES: f64 = 4.0 * 1024.0;
/// The share of a collection's time that reading it may be expected to take: the rest is for
/// what the expectation is wrong by.
const PLANNED_SHARE: f64 = 0.5;
/// Documents of a sample that the budget allows, at most.
const BUDGETED_SAMPLE_MAX: u64 = 100_000;
/// Batches that wait to be walked.
const WAITING_BATCHES: usize = 1;
/// Elements of an array that its document keeps, where a policy bounds only their bytes.
const HEAD_ELEMENTS: usize = 100;

/// What the commands of a scan are called in the server's log.
pub const COMMENT: &str = "freeboard audit";

/// One pass over a collection.
#[derive(Debug)]
pub struct Scan<'a> {
    pub client: &'a Client,
    pub collection: &'a Collection,
    /// Whether `$sample` reads a small sample without a scan.
    pub samples_cheaply: bool,
    /// Whether the server refused what only helps; it is not sent again.
    pub plain: &'a AtomicBool,
    pub reach: Reach,
    pub pace: &'a Arc<Pace>,
    /// When the time for this collection is up.
    pub until: Option<Instant>,
    pub stop: &'a CancellationToken,
}

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With everything that was asked for.
    Complete,
    OutOfTime,
    Interrupted,
}

/// How many documents of a collection a pass is to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    All,
    Some(u64),
}

impl Scan<'_> {
    /// All of a collection where that was asked for, or where there is time for it.
    pub fn plan(&self) -> Plan {
        let documents = self.collection.documents;
        match self.reach {
            Reach::Full => Plan::All,
            Reach::Sample(asked) if documents.is_some_and(|all| all <= asked) => Plan::All,
            Reach::Sample(asked) => Plan::Some(asked),
            Reach::Budgeted => {
                let affordable = self.affordable();
                match documents {
                    Some(all) if all <= affordable => Plan::All,
                    _ => Plan::Some(affordable.min(BUDGETED_SAMPLE_MAX)),
                }
            }
        }
    }

    /// Documents that there is time for.
    fn affordable(&self) -> u64 {
        let Some(left) = self.left() else { return u64::MAX };
        let each = self.collection.mean_bytes().unwrap_or(UNKNOWN_BYTES) + DOCUMENT_COST_BYTES;
        let bytes = self.pace.bytes_within(left.mul_f64(PLANNED_SHARE));
        ((bytes / each) as u64).max(SAMPLE_DOCUMENTS)
    }

    /// Counts documents until there are no more, or time is up, or it is stopped. What
    /// was counted stays counted, whatever happens.
    pub async fn run(&self, plan: Plan, census: &mut Census, progress: &Progress) -> Result<End> {
        match plan {
            Plan::All => {
                let cursor = self.find(doc! {}, None, None).await?;
                self.walk(cursor, None, census, progress).await
            }
            Plan::Some(count) => self.sample(count, census, progress).await,
        }
    }

    /// Begins to read documents.
    async fn find(
        &self,
        filter: Document,
        sort: Option<Document>,
        limit: Option<u64>,
    ) -> Result<RawBatchCursor> {
        if !self.plain.load(Ordering::Relaxed) {
            let asked = self.find_as(filter.clone(), sort.clone(), limit, false).await;
            match asked {
                Err(error) if is_refusal(&error) => {}
                other => return other,
            }
        }
        let cursor = self.find_as(filter, sort, limit, true).await?;
        self.plain.store(true, Ordering::Relaxed);
        Ok(cursor)
    }

    /// `plain`: without what only helps.
    async fn find_as(
        &self,
        filter: Document,
        sort: Option<Document>,
        limit: Option<u64>,
        plain: bool,
    ) -> Result<RawBatchCursor> {
        let batch = limit.unwrap_or(u64::MAX).min(self.batch_documents());
        let handle = self.handle();
        let mut find = handle.find(filter);
        find = find.batch_size(u32::try_from(batch).unwrap_or(u32::MAX));
        if let Some(sort) = sort {
            find = find.sort(sort);
        }
        if let Some(limit) = limit {
            find = find.limit(i64::try_from(limit).unwrap_or(i64::MAX));
        }
        if let Some(heads) = self.heads() {
            find = find.projection(heads);
        }
        if !plain {
            find = find.comment(COMMENT);
        }
        if let Some(left) = self.left().filter(|_| !plain) {
            find = find.max_time(left.max(Duration::from_millis(1)));
        }
        find.batch().await
    }

    /// The projection that shows of arrays with pages what their documents keep: that is what
    /// may become too large, though reads show the whole.
    fn heads(&self) -> Option<Document> {
        let policy = self.collection.policy.as_ref()?;
        let heads = policy.merged().map(|rule| {
            let kept = i32::try_from(rule.head.max.unwrap_or(HEAD_ELEMENTS)).unwrap_or(i32::MAX);
            let slice = if rule.keep == Keep::Newest { -kept } else { kept };
            (rule.path.as_str().to_owned(), Bson::from(doc! { "$slice": slice }))
        });
        let heads: Document = heads.collect();
        (!heads.is_empty()).then_some(heads)
    }

    fn handle(&self) -> mongodb::Collection<Document> {
        let namespace = &self.collection.namespace;
        self.client.database(&namespace.database).collection(&namespace.collection)
    }

    /// Documents of a batch: few where they are large.
    fn batch_documents(&self) -> u64 {
        let average = self.collection.mean_bytes().unwrap_or(0.0) as u64;
        (BATCH_BYTES / average.max(1)).clamp(1, BATCH_DOCUMENTS_MAX)
    }

    fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Counts what a cursor gives, `limit` documents at most.
    async fn walk(
        &self,
        cursor: RawBatchCursor,
        limit: Option<u64>,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<End> {
        let (send, mut batches) = mpsc::channel(WAITING_BATCHES);
        let fetching = tokio::spawn(fetch(cursor, send, self.pace.clone()));
        let outcome = self.receive(&mut batches, limit, census, progress).await;
        // A cursor that is dropped is closed at the server.
        fetching.abort();
        outcome
    }

    async fn receive(
        &self,
        batches: &mut mpsc::Receiver<Result<RawBatch>>,
        limit: Option<u64>,
        census: &mut Census,
        progress: &Progress,
    ) -> Result<End> {
        let mut left = limit.unwrap_or(u64::MAX);
        while left > 0 {
            let out_of_time = async {
                match self.until {
                    Some(until) => tokio::time::sleep_until(until.into()).await,
                    None => std::future::pending().await,
                }
            };
            let batch = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Ok(End::Interrupted),
                () = out_of_time => return Ok(End::OutOfTime),
                batch = batches.recv() => batch,
            };
            let Some(batch) = batch else { break };
            let counted = count(&batch?, left, census)?;
            left -= counted;
            progress.add(counted);
        }
        Ok(End::Complete)
    }
}

/// Whether a server refused what it was sent, and may take less: not for want of rights or
/// time, and not because there is no such collection.
pub fn is_refusal(error: &Error) -> bool {
    const UNAUTHORIZED: i32 = 13;
    const NAMESPACE_NOT_FOUND: i32 = 26;
    const MAX_TIME_MS_EXPIRED: i32 = 50;
    match &*error.kind {
        ErrorKind::Command(error) => {
            ![UNAUTHORIZED, NAMESPACE_NOT_FOUND, MAX_TIME_MS_EXPIRED].contains(&error.code)
        }
        _ => false,
    }
}

/// Reads batches at the pace that is set, until there are no more or nobody wants them.
async fn fetch(mut cursor: RawBatchCursor, send: mpsc::Sender<Result<RawBatch>>, pace: Arc<Pace>) {
    // The first batch came with the cursor: how long it took is not known here.
    let mut first = true;
    // No batch is asked for before there is room for it.
    while let Ok(room) = send.reserve().await {
        let asked = Instant::now();
        let Some(batch) = cursor.next().await else { return };
        let took = asked.elapsed();
        let bytes = batch.as_ref().map_or(0, |batch| batch.as_raw_document().as_bytes().len());
        room.send(batch);
        if !std::mem::take(&mut first) {
            pace.keep(took, bytes).await;
        }
    }
}

/// Counts the documents of a batch; how many there were.
fn count(batch: &RawBatch, limit: u64, census: &mut Census) -> Result<u64> {
    let mut counted = 0;
    for element in array_elements(batch.doc_slices()?).items() {
        if counted == limit {
            break;
        }
        if let Some(document) = element.as_document() {
            census.add(document);
            counted += 1;
        }
    }
    Ok(counted)
}

/// The `_id`s of the first and the last document of a batch.
fn ids_of_ends(batch: &RawBatch) -> (Option<Bson>, Option<Bson>) {
    let Ok(documents) = batch.doc_slices() else { return (None, None) };
    let id = |document: Option<Element<'_>>| {
        let id = get_value(document?.as_document()?, "_id")?;
        Bson::try_from(id).ok()
    };
    let mut documents = array_elements(documents).items();
    let first = documents.next();
    (id(first), id(documents.last().or(first)))
}
