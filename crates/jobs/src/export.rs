//! A collection written to a file, arrays that overflow as a whole, with its options, indexes and
//! growth policy in a second one.

use crate::definition::{Definition, metadata_path};
use crate::output::Output;
use crate::overflow::{Guarded, Joined};
use crate::progress::Progress;
use crate::sink::Sink;
use crate::{Error, Format, connect};
use bson::{RawDocumentBuf, doc};
use mongodb::Database;
use std::path::Path;

#[derive(Debug)]
pub struct Export<'a> {
    pub uri: &'a str,
    pub namespace: &'a str,
    /// `-` is standard output.
    pub file: &'a Path,
    pub format: Option<Format>,
    /// Leave out options, indexes and policy.
    pub documents_only: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub documents: u64,
    /// Those of them that pass 16 MB with their arrays, and so stand there in parts.
    pub partial: u64,
    /// The indexes beside the one on `_id`, where they were written to a file.
    pub indexes: Option<usize>,
    /// What the file may lack.
    pub warnings: Vec<String>,
}

impl Export<'_> {
    pub async fn run(&self) -> Result<Exported, Error> {
        crate::interruptible(self.work()).await
    }

    async fn work(&self) -> Result<Exported, Error> {
        let format = Format::of(self.file, self.format)?;
        let client = connect::client(self.uri).await?;
        let (database, name) = connect::split(self.namespace)?;
        let database = client.database(database);
        let mut definition = Definition::of(&database, name).await?;
        let guarded = Guarded::of(&database, name).await?;
        let mut exported = Exported::default();
        if let Some(definition) = &mut definition {
            definition.policy = guarded.as_ref().map(|guarded| guarded.document.clone());
            exported.warnings.extend(heads_of_view(&database, definition).await?);
        }
        let overflows = guarded.filter(|guarded| guarded.overflows().next().is_some());
        let sink = match &overflows {
            Some(guarded) => {
                let joined = Joined::open(&database, name, guarded).await?;
                self.write_joined(&database, name, joined, format, &mut exported).await?
            }
            None => self.write_plain(&database, name, format, &mut exported).await?,
        };
        // What a server does not list may have documents all the same.
        if definition.is_none() && exported.documents == 0 {
            return Err(self.not_there());
        }
        let written = definition.filter(|_| !self.documents_only);
        let indexes = written.map(|it| self.write_definition(&it, name)).transpose()?;
        sink.finish()?;
        exported.indexes = indexes.flatten();
        Ok(exported)
    }

    fn not_there(&self) -> Error {
        Error::Use(format!(
            "there is no collection {}, so nothing was exported; check its name",
            self.namespace
        ))
    }

    /// Writes options and indexes beside the documents, unless those go to standard output.
    fn write_definition(&self, of: &Definition, name: &str) -> Result<Option<usize>, Error> {
        let Some(path) = metadata_path(self.file) else { return Ok(None) };
        let mut output = Output::create(&path)?;
        output.write(&of.text(name)?)?;
        output.finish()?;
        Ok(Some(of.indexes()))
    }

    /// Writes the documents as they are.
    async fn write_plain(
        &self,
        database: &Database,
        name: &str,
        format: Format,
        exported: &mut Exported,
    ) -> Result<Sink, Error> {
        let collection = database.collection::<RawDocumentBuf>(name);
        // A view cannot be estimated.
        let total = collection.estimated_document_count().await.ok();
        let mut cursor = collection.find(doc! {}).await?;
        let mut sink = Sink::create(self.file, format)?;
        let progress = Progress::documents("exporting", total);
        while cursor.advance().await? {
            sink.write(cursor.current())?;
            exported.documents += 1;
            progress.add(1);
        }
        Ok(sink)
    }

    /// Writes the documents with the elements of their pages.
    async fn write_joined(
        &self,
        database: &Database,
        name: &str,
        mut joined: Joined,
        format: Format,
        exported: &mut Exported,
    ) -> Result<Sink, Error> {
        let collection = database.collection::<RawDocumentBuf>(name);
        let total = collection.estimated_document_count().await.ok();
        let mut sink = Sink::create(self.file, format)?;
        let progress = Progress::documents("exporting", total);
        while joined.write_next(&mut sink).await? {
            exported.documents += 1;
            progress.add(1);
        }
        exported.partial = joined.partial;
        if joined.strays > 0 {
            exported.warnings.push(format!(
                "{} pages of {} are of no document and were left out; look with 'freeboard verify'",
                joined.strays, self.namespace
            ));
        }
        Ok(sink)
    }
}

/// What a view shows of documents that are too large with their arrays is not theirs to know.
async fn heads_of_view(database: &Database, of: &Definition) -> Result<Option<String>, Error> {
    let mut on = of.view_on.clone();
    let mut base = None;
    while let Some(name) = on {
        on = Definition::of(database, &name).await?.and_then(|below| below.view_on);
        base = Some(name);
    }
    let Some(base) = base else { return Ok(None) };
    let guarded = Guarded::of(database, &base).await?;
    let overflows = guarded.is_some_and(|guarded| guarded.overflows().next().is_some());
    Ok(overflows.then(|| {
        let database = database.name();
        format!(
            "this is a view of {database}.{base}, whose arrays overflow: the file has what the \
             view shows of them, which may be their heads; export {database}.{base} for the whole"
        )
    }))
}
