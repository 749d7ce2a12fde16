//! A collection written to a file, arrays that overflow as a whole.

use crate::output::Output;
use crate::progress::Progress;
use crate::{Error, Format, connect, extjson};
use bson::{Document, RawDocumentBuf, doc};
use command::Namespace;
use guard::Policy;
use mongodb::Client;
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
        let mut find = collection.find(doc! {});
        if let Some(whole) = whole_arrays(&client, self.namespace).await? {
            find = find.projection(whole);
        }
        let mut cursor = find.await?;
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

/// The projection that shows arrays whole of which documents keep only a head, and leaves
/// out what is said of their pages: those are no part of the file. `None` where there are
/// no such arrays, and on servers without growth policies.
async fn whole_arrays(client: &Client, namespace: &str) -> Result<Option<Document>, Error> {
    let Some((database, collection)) = namespace.split_once('.') else { return Ok(None) };
    let ask = doc! { "getGrowthPolicy": collection };
    let reply = client.database(database).run_command(ask).await.map_err(Error::from);
    let reply = match reply {
        Err(error) if error.is_unknown_command() => return Ok(None),
        reply => reply?,
    };
    let Ok(policy) = reply.get_document("policy") else { return Ok(None) };
    let unknown = |why: String| {
        Error::Input(format!("the growth policy of {namespace} is not understood: {why}"))
    };
    let policy = RawDocumentBuf::try_from(policy).map_err(|error| unknown(error.to_string()))?;
    let policy = Namespace::new(database, collection)
        .and_then(|namespace| Policy::parse(&namespace, &policy))
        .map_err(|error| unknown(error.message().to_owned()))?;
    let mut projection = Document::new();
    for rule in policy.overflows() {
        projection.insert(rule.path.as_str(), doc! { "$slice": i32::MAX });
        projection.insert(rule.flag.as_str(), 0);
        projection.insert(rule.pages.as_str(), 0);
    }
    Ok((!projection.is_empty()).then_some(projection))
}
