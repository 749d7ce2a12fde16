//! A collection written to a file, arrays that overflow as a whole.

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
}

#[derive(Debug, PartialEq, Eq)]
pub struct Exported {
    pub documents: u64,
}

impl Export<'_> {
    pub async fn run(&self) -> Result<Exported, Error> {
        crate::interruptible(self.work()).await
    }

    async fn work(&self) -> Result<Exported, Error> {
        let format = Format::of(self.file, self.format)?;
        let client = connect::client(self.uri).await?;
        let collection = connect::collection(&client, self.namespace)?;
        // A view cannot be estimated.
        let total = collection.estimated_document_count().await.ok();
        let whole = Whole::of(&client, self.namespace).await?;
        let mut documents = 0;
        let read = self.read(&collection, whole.as_ref(), total, format, &mut documents).await;
        match (read, &whole) {
            (Ok(()), _) => Ok(Exported { documents }),
            (Err(Error::Client(error)), Some(whole)) => {
                Err(whole.explain(&collection, documents, error).await)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Writes the documents, and counts them.
    async fn read(
        &self,
        collection: &Collection<RawDocumentBuf>,
        whole: Option<&Whole>,
        total: Option<u64>,
        format: Format,
        documents: &mut u64,
    ) -> Result<(), Error> {
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
        output.finish()
    }
}
