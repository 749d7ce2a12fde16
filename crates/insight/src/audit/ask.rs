//! What a server knows of a collection without its documents being read.
//!
//! Servers differ in how they tell it: where one way is refused, the next simpler one is
//! taken.

use super::facts::{Collection, Index};
use bson::{Bson, Document, doc};
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::{Error, ErrorKind, Result};

/// The code of a collection that is not there.
const NOT_FOUND: i32 = 26;

/// What could not be asked, and why.
#[derive(Debug)]
pub struct Unknown {
    pub what: &'static str,
    pub error: Error,
    /// Whether the audit is not complete without it.
    pub missed: bool,
}

/// Takes in size, indexes and their use; what the server does not tell, and why.
pub async fn ask(client: &Client, collection: &mut Collection) -> Vec<Unknown> {
    let (size, indexes, uses) = tokio::join!(
        size(client, collection),
        indexes(client, collection),
        uses(client, collection)
    );
    let mut unknown = Vec::new();
    let mut add = |what, error, missed| unknown.push(Unknown { what, error, missed });
    match size {
        Ok((documents, bytes)) => (collection.documents, collection.bytes) = (documents, bytes),
        Err(error) => add("its size is not known", error, false),
    }
    match (indexes, uses) {
        (Ok(indexes), uses) => {
            collection.indexes = indexes;
            match uses {
                Ok(uses) => collection.add_index_uses(&uses),
                Err(error) => add("how its indexes are used is not known", error, false),
            }
        }
        (Err(error), _) => {
            // One that was dropped in the meantime is not missed.
            let missed = !matches!(&*error.kind, ErrorKind::Command(it) if it.code == NOT_FOUND);
            add("its indexes cannot be listed", error, missed);
        }
    }
    unknown
}

/// Documents and bytes.
async fn size(client: &Client, collection: &Collection) -> Result<(Option<u64>, Option<u64>)> {
    let first = match size_by_stage(client, collection).await {
        Ok(known @ (Some(_), _)) => return Ok(known),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let name = &*collection.namespace.collection;
    let database = client.database(&collection.namespace.database);
    if let Ok(reply) = database.run_command(doc! { "collStats": name }).await {
        return Ok((whole(reply.get("count")), whole(reply.get("size"))));
    }
    match (database.run_command(doc! { "count": name }).await, first) {
        (Ok(reply), _) => Ok((whole(reply.get("n")), None)),
        (Err(_), Some(first)) => Err(first),
        (Err(error), None) => Err(error),
    }
}

async fn size_by_stage(
    client: &Client,
    collection: &Collection,
) -> Result<(Option<u64>, Option<u64>)> {
    let stages = [doc! { "$collStats": { "storageStats": {}, "count": {} } }];
    let rows: Vec<Document> =
        handle(client, collection).aggregate(stages).await?.try_collect().await?;
    let mut documents = None;
    let mut bytes = None;
    // A row for each shard.
    for row in &rows {
        let storage = row.get_document("storageStats").ok();
        let count = whole(row.get("count").or(storage.and_then(|it| it.get("count"))));
        let size = whole(storage.and_then(|it| it.get("size")));
        documents = add(documents, count);
        bytes = add(bytes, size);
    }
    Ok((documents, bytes))
}

async fn indexes(client: &Client, collection: &Collection) -> Result<Vec<Index>> {
    let database = client.database(&collection.namespace.database);
    let list = doc! { "listIndexes": &*collection.namespace.collection };
    let specs: Vec<Document> = database.run_cursor_command(list).await?.try_collect().await?;
    Ok(specs.into_iter().map(Index::new).collect())
}

async fn uses(client: &Client, collection: &Collection) -> Result<Vec<Document>> {
    let stages = [doc! { "$indexStats": {} }];
    handle(client, collection).aggregate(stages).await?.try_collect().await
}

fn handle(client: &Client, collection: &Collection) -> mongodb::Collection<Document> {
    let database = client.database(&collection.namespace.database);
    database.collection(&collection.namespace.collection)
}

fn whole(value: Option<&Bson>) -> Option<u64> {
    match value? {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        Bson::Double(number) => Some(*number as u64),
        _ => None,
    }
}

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    Some(sum.unwrap_or(0) + more?)
}
