//! A collection written to a file.

use crate::output::Output;
use crate::progress::Progress;
use crate::{Error, Format, connect, extjson};
use bson::doc;
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
        let mut cursor = collection.find(doc! {}).await?;
        let mut output = Output::create(self.file)?;
        let progress = Progress::documents(total);
        let mut documents = 0;
        let mut line = Vec::new();
        while cursor.advance().await? {
            let document = cursor.current();
            match format {
                Format::Bson => output.write(document.as_bytes())?,
                Format::Ndjson => {
                    line.clear();
                    extjson::write(document, &mut line);
                    line.push(b'\n');
                    output.write(&line)?;
                }
            }
            documents += 1;
            progress.add(1);
        }
        output.finish()?;
        Ok(Exported { documents })
    }
}
