//! A collection written to a file, arrays that overflow as a whole, with its options and indexes
//! in a second one.

use crate::definition::{Definition, metadata_path};
use crate::output::Output;
use crate::progress::Progress;
use crate::whole::Whole;
use crate::{Error, Format, connect, extjson};
use bson::{RawDocumentBuf, doc};
use mongodb::Collection;
use std::borrow::Cow;
use std::path::Path;

#[derive(Debug)]
pub struct Export<'a> {
    pub uri: &'a str,
    pub namespace: &'a str,
    /// `-` is standard output.
    pub file: &'a Path,
    pub format: Option<Format>,
    /// Leave out options and indexes.
    pub documents_only: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Exported {
    pub documents: u64,
    /// The indexes beside the one on `_id`, where they were written to a file.
    pub indexes: Option<usize>,
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
        let collection = database.collection(name);
        let definition = Definition::of(&database, name).await?;
        // A view cannot be estimated.
        let total = collection.estimated_document_count().await.ok();
        let whole = Whole::of(&client, self.namespace).await?;
        let mut documents = 0;
        let read = self.read(&collection, whole.as_ref(), total, format, &mut documents).await;
        match (read, &whole) {
            // What a server does not list may have documents all the same.
            (Ok(_), _) if definition.is_none() && documents == 0 => Err(self.not_there()),
            (Ok(output), _) => {
                let written = definition.filter(|_| !self.documents_only);
                let indexes = written.map(|it| self.write_definition(&it, name)).transpose()?;
                output.finish()?;
                Ok(Exported { documents, indexes: indexes.flatten() })
            }
            (Err(Error::Client(error)), Some(whole)) => {
                Err(whole.explain(&collection, documents, error).await)
            }
            (Err(error), _) => Err(error),
        }
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

    /// Writes the documents, and counts them.
    async fn read(
        &self,
        collection: &Collection<RawDocumentBuf>,
        whole: Option<&Whole>,
        total: Option<u64>,
        format: Format,
        documents: &mut u64,
    ) -> Result<Output, Error> {
        let mut find = collection.find(doc! {});
        if let Some(whole) = whole {
            find = find.projection(whole.projection());
        }
        let mut cursor = find.await?;
        let mut output = Output::create(self.file)?;
        let progress = Progress::documents("exporting", total);
        let mut line = Vec::new();
        while cursor.advance().await? {
            let document = Cow::Borrowed(cursor.current());
            let document = whole.map_or(document, |whole| whole.without_pages(cursor.current()));
            match format {
                Format::Bson => output.write(document.as_bytes())?,
                Format::Ndjson => {
                    line.clear();
                    extjson::write(&document, &mut line);
                    line.push(b'\n');
                    output.write(&line)?;
                }
            }
            *documents += 1;
            progress.add(1);
        }
        Ok(output)
    }
}
