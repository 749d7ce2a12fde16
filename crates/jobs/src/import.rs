//! A file read into a collection.

use crate::definition::{Definition, Made};
use crate::progress::Progress;
use crate::source::{Item, Source};
use crate::{Error, Format, connect, stop};
use bson::RawDocumentBuf;
use futures::stream::{FuturesUnordered, StreamExt};
use mongodb::error::{ErrorKind, IndexedWriteError};
use mongodb::{Collection, Database};
use std::path::Path;
use tokio::sync::mpsc;

/// What one command inserts.
const BATCH_DOCUMENTS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Commands under way at once.
const BATCHES_IN_FLIGHT: usize = 4;
/// Failures that are told one by one; the rest are counted.
const FAILURES_TOLD_MAX: usize = 20;
const DUPLICATE_KEY: i32 = 11000;

#[derive(Debug)]
pub struct Import<'a> {
    pub uri: &'a str,
    pub namespace: &'a str,
    /// `-` is standard input.
    pub file: &'a Path,
    pub format: Option<Format>,
    /// Drop the collection first. Its options and indexes are made again, unless the file
    /// beside the documents has others.
    pub drop: bool,
    /// Do without the file beside the documents.
    pub documents_only: bool,
    pub existing: ExistingDocument,
}

/// What becomes of a document whose `_id` is in the collection already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExistingDocument {
    /// It is told as a failure.
    #[default]
    Fail,
    /// It is left as it is there: an import that was interrupted goes on.
    Skip,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub documents: u64,
    /// Those that were there already, where they are to be skipped.
    pub skipped: u64,
    pub failed: u64,
    /// Ctrl-C came before the end of the file.
    pub interrupted: bool,
    /// The first failures, in the order of the file.
    pub failures: Vec<Failure>,
    pub made: Made,
    /// Indexes that went with the collection, and that the file does not have.
    pub dropped_indexes: Vec<String>,
}

/// A document that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The line or document of the file, from 1.
    pub number: u64,
    pub why: String,
}

/// Documents on their way, and where they stand in the file.
#[derive(Default)]
struct Batch {
    documents: Vec<RawDocumentBuf>,
    numbers: Vec<u64>,
    bytes: usize,
    file_bytes: u64,
    unreadable: Vec<Failure>,
}

impl Import<'_> {
    pub async fn run(&self) -> Result<Imported, Error> {
        let format = Format::of(self.file, self.format)?;
        let (source, size) = Source::open(self.file, format)?;
        let client = connect::client(self.uri).await?;
        let (database, name) = connect::split(self.namespace)?;
        let database = client.database(database);
        let collection = database.collection(name);
        let mut imported = self.define(&database, name).await?;
        let progress = Progress::bytes("importing", size);
        let (sender, mut batches) = mpsc::channel(BATCHES_IN_FLIGHT);
        let reader = tokio::task::spawn_blocking(move || read(source, &sender));
        let mut under_way = FuturesUnordered::new();
        let stopping = "stopping after the batches under way";
        let mut interrupt = std::pin::pin!(stop::interrupt(stopping));
        let mut reads = true;
        while reads || !under_way.is_empty() {
            tokio::select! {
                Some(done) = under_way.next() => {
                    let (bytes, done): (u64, Imported) = done?;
                    progress.add(bytes);
                    imported.add(done);
                }
                batch = batches.recv(), if reads && under_way.len() < BATCHES_IN_FLIGHT => {
                    match batch {
                        Some(batch) => under_way.push(self.insert(&collection, batch)),
                        None => reads = false,
                    }
                }
                // What is under way is finished, so that what is told is true.
                () = &mut interrupt, if reads => {
                    imported.interrupted = true;
                    reads = false;
                }
            }
        }
        imported.finish();
        if imported.interrupted {
            // The reader may wait for a terminal that says nothing.
            return Ok(imported);
        }
        match reader.await {
            Ok(outcome) => outcome?,
            Err(error) => return Err(Error::Input(format!("reading failed: {error}"))),
        }
        Ok(imported)
    }

    /// Empties the collection where that is asked for, and makes what it is beside its
    /// documents: before they come, so that nothing is missing where the import is interrupted.
    async fn define(&self, database: &Database, name: &str) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        let told = if self.documents_only { None } else { Definition::read(self.file)? };
        let before = if self.drop { Definition::of(database, name).await? } else { None };
        if let (Some(before), Some(told)) = (&before, &told) {
            imported.dropped_indexes = before.without(told);
        }
        let there = before.is_some();
        match told.or(before) {
            Some(definition) if there => imported.made = definition.replace(database, name).await?,
            Some(definition) => imported.made = definition.make(database, name).await?,
            None => {}
        }
        Ok(imported)
    }

    async fn insert(
        &self,
        collection: &Collection<RawDocumentBuf>,
        batch: Batch,
    ) -> Result<(u64, Imported), Error> {
        let failed = batch.unreadable.len() as u64;
        let mut imported = Imported { failed, failures: batch.unreadable, ..Imported::default() };
        if batch.documents.is_empty() {
            return Ok((batch.file_bytes, imported));
        }
        let refused = match collection.insert_many(&batch.documents).ordered(false).await {
            Ok(_) => Vec::new(),
            Err(error) => match &*error.kind {
                ErrorKind::InsertMany(many) if many.write_concern_error.is_none() => {
                    many.write_errors.clone().unwrap_or_default()
                }
                _ => return Err(error.into()),
            },
        };
        imported.documents = (batch.documents.len() - refused.len()) as u64;
        for error in refused {
            if self.existing == ExistingDocument::Skip && is_there_already(&error) {
                imported.skipped += 1;
                continue;
            }
            let number = batch.numbers.get(error.index).copied().unwrap_or_default();
            imported.failed += 1;
            imported.failures.push(Failure { number, why: error.message });
        }
        Ok((batch.file_bytes, imported))
    }
}

/// Whether it was refused for its `_id`, not for another unique key.
fn is_there_already(error: &IndexedWriteError) -> bool {
    error.code == DUPLICATE_KEY && error.message.contains("index: _id_ ")
}

/// Reads the file to its end, batch by batch.
fn read(mut source: Source, batches: &mpsc::Sender<Batch>) -> Result<(), Error> {
    let mut batch = Batch::default();
    let outcome = loop {
        match source.next() {
            Ok(Some(item)) => batch.add(item),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        // Nobody takes batches any more once one has failed for good.
        if batch.is_full() && batches.blocking_send(std::mem::take(&mut batch)).is_err() {
            return Ok(());
        }
    };
    let _ = batches.blocking_send(batch);
    outcome
}

impl Batch {
    fn add(&mut self, item: Item) {
        self.file_bytes += item.bytes;
        match item.document {
            Ok(document) => {
                self.bytes += document.as_bytes().len();
                self.documents.push(document);
                self.numbers.push(item.number);
            }
            Err(why) => self.unreadable.push(Failure { number: item.number, why }),
        }
    }

    fn is_full(&self) -> bool {
        self.documents.len() + self.unreadable.len() >= BATCH_DOCUMENTS_MAX
            || self.bytes >= BATCH_BYTES_MAX
    }
}

impl Imported {
    fn add(&mut self, other: Imported) {
        self.documents += other.documents;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        // Batches end in any order: the first failures of the file are kept.
        if self.failures.len() > BATCH_DOCUMENTS_MAX {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.failures.sort_by_key(|failure| failure.number);
        self.failures.truncate(FAILURES_TOLD_MAX);
    }
}

/// For messages about the whole.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.number, self.why)
    }
}
