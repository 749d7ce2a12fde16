//! The shard keys of a cluster.

use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::Result;
use rustc_hash::FxHashMap;

/// Sharded collections that are read of the configuration.
const COLLECTIONS_MAX: i64 = 100_000;

/// By namespace.
pub async fn shard_keys(client: &Client) -> Result<FxHashMap<String, Document>> {
    let collections = client.database("config").collection::<Document>("collections");
    let filter = doc! { "key": { "$exists": true }, "dropped": { "$ne": true } };
    let mut rows = collections.find(filter).limit(COLLECTIONS_MAX).await?;
    let mut keys = FxHashMap::default();
    while let Some(row) = rows.try_next().await? {
        if let (Ok(namespace), Ok(key)) = (row.get_str("_id"), row.get_document("key")) {
            keys.insert(namespace.to_owned(), key.clone());
        }
    }
    Ok(keys)
}
