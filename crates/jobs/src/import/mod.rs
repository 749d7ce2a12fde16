//! A file read into a collection.

mod batch;
mod check;
mod large;
mod read;
mod room;

use crate::definition::{Definition, Made};
use crate::overflow::Guarded;
use crate::policy;
use crate::progress::Progress;
use crate::source::Source;
use crate::{Error, Format, connect, stop};
use bson::RawDocumentBuf;
use futures::stream::{FuturesUnordered, StreamExt};
use mongodb::error::IndexedWriteError;
use mongodb::{Collection, Database};
use read::Work;
use room::Room;
use std::path::Path;
use tokio::sync::{mpsc, watch};

/// Commands under way at once.
const BATCHES_IN_FLIGHT: usize = 4;
/// Failures that are listed; the rest are counted.
const FAILURES_LISTED_MAX: usize = 20;
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
    /// Set the growth policy that the file beside the documents has.
    pub with_policy: bool,
    pub existing: ExistingDocument,
}

/// What becomes of a document whose `_id` is in the collection already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExistingDocument {
    /// It is reported as a failure.
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
    pub policy: FilePolicy,
    /// The collection was dropped for a file that can be read only once, so that no more than
    /// its beginning was looked at before.
    pub dropped_unchecked: bool,
}

/// What has become of the growth policy in the file beside the documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FilePolicy {
    /// There is none, or the collection has one of its own.
    #[default]
    None,
    Set,
    /// Nobody asked for it, and the collection has none.
    Left,
}

/// A document that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The line or document of the file, from 1.
    pub number: u64,
    pub why: String,
}

/// Where documents go.
struct Target {
    database: Database,
    name: String,
    collection: Collection<RawDocumentBuf>,
    room: Room,
    existing: ExistingDocument,
    progress: Progress,
    /// Turns true on Ctrl-C.
    stopping: watch::Receiver<bool>,
}

impl Import<'_> {
    pub async fn run(&self) -> Result<Imported, Error> {
        let format = Format::of(self.file, self.format)?;
        let (mut source, size) = Source::open(self.file, format)?;
        source.check_first()?;
        let client = connect::client(self.uri).await?;
        let (database, name) = connect::split(self.namespace)?;
        let database = client.database(database);
        let told = self.told()?;
        let has_policy = told.as_ref().is_some_and(|told| told.policy.is_some());
        let guarded = self.policy(&database, name, told.as_ref()).await?;
        let room = Room { guarded, namespace: format!("{}.{name}", database.name()) };
        // What is dropped is gone: nothing is before all of the file can be read. What can be
        // read only once would be lost by that.
        let can_be_checked = size.is_some();
        if self.drop && can_be_checked {
            check::whole(self.file, format, &room)?;
        }
        let mut imported = self.define(&database, name, told).await?;
        imported.dropped_unchecked &= !can_be_checked;
        if !self.with_policy && has_policy && room.guarded.is_none() {
            imported.policy = FilePolicy::Left;
        }
        let (stop, stopping) = watch::channel(false);
        let target = Target {
            collection: database.collection(name),
            room,
            name: name.to_owned(),
            existing: self.existing,
            database,
            progress: Progress::bytes("importing", size),
            stopping,
        };
        let (sender, mut works) = mpsc::channel(BATCHES_IN_FLIGHT);
        let reader = tokio::task::spawn_blocking(move || read::read(source, &sender));
        let mut under_way = FuturesUnordered::new();
        let announced = "stopping after the batches under way";
        let mut interrupt = std::pin::pin!(stop::interrupt(announced));
        let mut reads = true;
        while reads || !under_way.is_empty() {
            tokio::select! {
                Some(done) = under_way.next() => {
                    imported.add(done?);
                }
                work = works.recv(), if reads && under_way.len() < BATCHES_IN_FLIGHT => {
                    match work {
                        Some(work) => under_way.push(target.take(work)),
                        None => reads = false,
                    }
                }
                // What is under way is finished, so that the report is true.
                () = &mut interrupt, if reads => {
                    imported.interrupted = true;
                    reads = false;
                    let _ = stop.send(true);
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

    /// What the file beside the documents says.
    fn told(&self) -> Result<Option<Definition>, Error> {
        let told = if self.documents_only { None } else { Definition::read(self.file)? };
        if self.with_policy && told.as_ref().is_none_or(|told| told.policy.is_none()) {
            return Err(Error::Use(format!(
                "there is no growth policy beside {}; leave out --with-policy, or export the \
                 collection again",
                self.file.display()
            )));
        }
        Ok(told)
    }

    /// The policy that will be in force. That of the file is checked, since it is set after the
    /// collection was emptied.
    async fn policy(
        &self,
        database: &Database,
        name: &str,
        told: Option<&Definition>,
    ) -> Result<Option<Guarded>, Error> {
        let told = told.and_then(|told| told.policy.as_ref()).filter(|_| self.with_policy);
        let Some(policy) = told else { return Guarded::of(database, name).await };
        let checked = match self.drop {
            true => policy::check_without_pages(database, name, policy).await,
            false => policy::check(database, name, policy).await,
        };
        checked.map_err(|why| {
            Error::Input(format!(
                "the growth policy in the file beside the documents cannot be set, so nothing was \
                 changed: {why}"
            ))
        })?;
        Guarded::parse(database, name, policy.clone()).map(Some)
    }

    /// Empties the collection where that is asked for, and makes what it is beside its
    /// documents: before they come, so that nothing is missing where the import is interrupted.
    async fn define(
        &self,
        database: &Database,
        name: &str,
        told: Option<Definition>,
    ) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        let before = if self.drop { Definition::of(database, name).await? } else { None };
        if let (Some(before), Some(told)) = (&before, &told) {
            imported.dropped_indexes = before.without(told);
        }
        let there = before.is_some();
        let told = match told.or(before) {
            Some(definition) if there => {
                imported.dropped_unchecked = true;
                imported.made = definition.replace(database, name).await?;
                definition
            }
            Some(definition) => {
                imported.made = definition.make(database, name).await?;
                definition
            }
            None => return Ok(imported),
        };
        if self.with_policy && told.set_policy(database, name).await? {
            imported.policy = FilePolicy::Set;
        }
        Ok(imported)
    }
}

impl Target {
    /// Imports a part of the file.
    async fn take(&self, work: Work) -> Result<Imported, Error> {
        match work {
            Work::Batch(batch) => batch.insert(self).await,
            Work::Large(large) => large.insert(self).await,
        }
    }

    /// Whether a document is left as it is, since it is there already.
    fn skips(&self, error: &IndexedWriteError) -> bool {
        self.existing == ExistingDocument::Skip && is_there_already(error.code, &error.message)
    }
}

/// Whether it was refused for its `_id`, not for another unique key.
fn is_there_already(code: i32, message: &str) -> bool {
    // Servers put the index's name in different sentences.
    let mut words = message.split(|c: char| !c.is_alphanumeric() && c != '_');
    code == DUPLICATE_KEY && words.any(|word| word == "_id_")
}

impl Imported {
    fn add(&mut self, other: Imported) {
        self.documents += other.documents;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        // Batches end in any order: the first failures of the file are kept.
        if self.failures.len() > batch::DOCUMENTS_MAX {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.failures.sort_by_key(|failure| failure.number);
        self.failures.truncate(FAILURES_LISTED_MAX);
    }
}

/// For messages about the whole.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.number, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_there_already_by_its_id() {
        for (message, is_there) in [
            ("E11000 duplicate key error collection: d.c index: _id_ dup key: { _id: 1 }", true),
            ("Duplicate key violation on the requested collection: Index '_id_'", true),
            (
                "E11000 duplicate key error collection: d.c index: user_id_1 dup key: { a: 1 }",
                false,
            ),
        ] {
            assert_eq!(is_there_already(DUPLICATE_KEY, message), is_there, "{message}");
        }
    }
}
