//! A document that comes in parts: inserted with its first elements, the others pushed in their
//! order, and counted at the end. It is imported whole or not at all.

use super::{ExistingDocument, Failure, Imported, Target, is_there_already};
use crate::overflow::count_elements;
use crate::record::{Append, Partial, Sequence, named};
use crate::{Error, explain, number};
use bson::{Bson, Document, RawBson, RawBsonRef, RawDocumentBuf, doc};
use guard::patterns::place;
use mongodb::error::{ErrorKind, WriteFailure};
use tokio::sync::mpsc;
use value::DocumentWriter;

pub struct Large {
    number: u64,
    bytes: u64,
    partial: Partial,
    parts: mpsc::Receiver<Part>,
}

/// Further elements, and the bytes of the file that they took.
pub struct Part {
    pub append: Append,
    pub bytes: u64,
}

/// How the document has ended.
enum End {
    Imported,
    Skipped,
    Interrupted,
    Failed(String),
}

/// What a step says where it ends the import of the document.
type Step = Result<Result<(), End>, Error>;

impl Large {
    pub fn new(number: u64, bytes: u64, partial: Partial, parts: mpsc::Receiver<Part>) -> Large {
        Large { number, bytes, partial, parts }
    }

    pub async fn insert(mut self, target: &Target) -> Result<Imported, Error> {
        target.progress.add(self.bytes);
        let end = self.work(target).await?;
        // The reader goes on to the next document.
        self.parts.close();
        while let Some(part) = self.parts.recv().await {
            target.progress.add(part.bytes);
        }
        let mut imported = Imported::default();
        match end {
            End::Imported => imported.documents = 1,
            End::Skipped => imported.skipped = 1,
            End::Interrupted => {}
            End::Failed(why) => {
                imported.failed = 1;
                imported.failures.push(Failure { number: self.number, why });
            }
        }
        Ok(imported)
    }

    async fn work(&mut self, target: &Target) -> Result<End, Error> {
        if let Err(why) = target.room.check(&self.partial) {
            return Ok(End::Failed(why));
        }
        let sequence = match Sequence::new(&self.partial) {
            Ok(sequence) => sequence,
            Err(why) => return Ok(End::Failed(why)),
        };
        if let Err(end) = self.begin(target).await? {
            return Ok(end);
        }
        let done = match self.push_all(target, sequence).await? {
            Ok(()) => self.compare(target).await?,
            Err(end) => Err(end),
        };
        match done {
            Ok(()) => Ok(End::Imported),
            Err(end) => {
                target.collection.delete_one(self.filter()?).await?;
                Ok(end)
            }
        }
    }

    /// Inserts the document with its first elements.
    async fn begin(&self, target: &Target) -> Step {
        let Err(error) = target.collection.insert_one(&self.partial.document).await else {
            return Ok(Ok(()));
        };
        let ErrorKind::Write(WriteFailure::WriteError(refused)) = &*error.kind else {
            return Err(error.into());
        };
        let there = is_there_already(refused.code, &refused.message);
        if there && target.existing == ExistingDocument::Skip {
            // An import that was cut off leaves a part of it.
            return Ok(Err(match self.compare(target).await? {
                Err(End::Failed(why)) => End::Failed(format!("{why}; delete it, and import again")),
                _ => End::Skipped,
            }));
        }
        Ok(Err(End::Failed(format!("{}: {}", named(&self.id()), refused.message))))
    }

    /// Pushes the parts as they come.
    async fn push_all(&mut self, target: &Target, mut sequence: Sequence) -> Step {
        let mut stopping = target.stopping.clone();
        loop {
            let part = tokio::select! {
                part = self.parts.recv() => part,
                _ = stopping.wait_for(|stopping| *stopping) => return Ok(Err(End::Interrupted)),
            };
            let Some(Part { append, bytes }) = part else {
                return Ok(sequence.finish().map_err(End::Failed));
            };
            target.progress.add(bytes);
            if let Err(why) = sequence.next(&append) {
                return Ok(Err(End::Failed(why)));
            }
            if let Err(end) = self.push(target, &append).await? {
                return Ok(Err(end));
            }
        }
    }

    async fn push(&self, target: &Target, append: &Append) -> Step {
        let id = self.id();
        let reply = target.database.run_raw_command(push(&target.name, &id, append)).await;
        let why = match reply {
            Ok(reply) => match refusal(&reply) {
                Some(why) => why,
                None if number(&reply, "n") == 1 => return Ok(Ok(())),
                None => "it was deleted meanwhile".to_owned(),
            },
            Err(error) => match &*error.kind {
                ErrorKind::Command(_) => explain(&error),
                _ => return Err(error.into()),
            },
        };
        Ok(Err(End::Failed(format!("{}: {why}", named(&id)))))
    }

    /// Whether the collection has all elements.
    async fn compare(&self, target: &Target) -> Step {
        let Target { database, name, room, .. } = target;
        let id = self.id();
        for (path, total) in &self.partial.arrays {
            let there = count_elements(database, name, room.guarded.as_ref(), &id, path).await?;
            if there != Some(*total) {
                return Ok(Err(End::Failed(format!(
                    "{} has {} of the {total} elements of '{path}' in {}.{name}",
                    named(&id),
                    there.unwrap_or(0),
                    database.name(),
                ))));
            }
        }
        Ok(Ok(()))
    }

    fn id(&self) -> RawBson {
        place::id(&self.partial.document).into()
    }

    fn filter(&self) -> Result<Document, Error> {
        let id = Bson::try_from(self.id()).map_err(not_read)?;
        Ok(doc! { "_id": { "$eq": id } })
    }
}

/// The command that appends elements, to the byte as they are in the file.
fn push(name: &str, id: &RawBson, append: &Append) -> RawDocumentBuf {
    let mut command = DocumentWriter::with_capacity(append.elements.as_bytes().len() + 1024);
    command.append_str("update", name);
    command.begin_array("updates");
    command.begin_next_document();
    command.begin_document("q");
    command.begin_document("_id");
    command.append("$eq", id.as_raw_bson_ref());
    command.end();
    command.end();
    command.begin_document("u");
    command.begin_document("$push");
    command.begin_document(append.path.as_str());
    command.append("$each", RawBsonRef::Array(&append.elements));
    // The update, its statement and their list are closed with the command.
    command.finish()
}

/// Why a statement was refused.
fn refusal(reply: &Document) -> Option<String> {
    let first = reply.get_array("writeErrors").ok()?.first()?.as_document()?;
    first.get_str("errmsg").ok().map(str::to_owned)
}

fn not_read(error: bson::error::Error) -> Error {
    Error::Input(error.to_string())
}
