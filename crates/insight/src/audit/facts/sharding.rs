//! The shard keys of a cluster, and those that are meant to be.

use super::Index;
use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Client;
use mongodb::error::Result;
use rustc_hash::FxHashMap;

/// Sharded collections that are read of the configuration.
const COLLECTIONS_MAX: i64 = 100_000;
/// On a server without shards, the name of the index on the key that a collection is to be
/// sharded by one day.
pub const INTENDED_INDEX: &str = "shard_key";

/// What a collection's documents are spread by.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardKey {
    pub key: Document,
    /// Whether the collection is sharded by it, and not only to be.
    pub in_use: bool,
}

impl ShardKey {
    /// The key that an index says a collection is to be sharded by.
    pub fn intended(indexes: &[Index]) -> Option<ShardKey> {
        let index = indexes.iter().find(|index| index.name == INTENDED_INDEX)?;
        Some(ShardKey { key: index.key.clone(), in_use: false })
    }
}

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
