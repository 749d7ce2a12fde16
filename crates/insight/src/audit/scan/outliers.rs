//! The documents that a sample is unlikely to meet: the few that are much larger than the rest.
//!
//! That there are some follows from the sizes: the server knows the bytes of all documents,
//! and the sample is too small to account for them. Which they are, Freeboard knows
//! (`growthStats`); another server looks for them itself and sends only those.

use super::{COMMENT, Scan};
use crate::audit::census::Census;
use bson::{Bson, Document, RawDocumentBuf, doc};
use futures::TryStreamExt;
use mongodb::error::Result;
use std::time::Duration;

/// Bytes that are not accounted for, as a share of those that are, from which on it is asked,
const UNSEEN_SHARE_MIN: f64 = 0.1;
/// and how many they are at least: a document that is worth a finding.
const UNSEEN_BYTES_MIN: f64 = 1024.0 * 1024.0;
/// Documents that are looked for, and from which size on.
const OUTLIERS_MAX: i64 = 10;
const OUTLIER_BYTES_MIN: i64 = 256 * 1024;

impl Scan<'_> {
    /// Bytes of the collection that the sample does not account for, where they are worth a
    /// look.
    pub fn unseen_bytes(&self, census: &Census) -> Option<u64> {
        let (bytes, documents) = (self.collection.bytes?, self.collection.documents?);
        let expected = census.sizes.mean() * documents as f64;
        let unseen = bytes as f64 - expected.max(census.sizes.sum() as f64);
        let worth = unseen >= UNSEEN_BYTES_MIN && unseen >= expected * UNSEEN_SHARE_MIN;
        worth.then_some(unseen as u64)
    }

    /// Counts the largest documents, beside the sample. Whether they could be looked for.
    pub async fn outliers(&self, census: &mut Census, growth_stats: bool) -> Result<bool> {
        let found = match growth_stats {
            true => self.largest_by_statistics().await?,
            false => self.largest_by_search().await?,
        };
        let any = !found.is_empty();
        found.iter().for_each(|document| census.add_outlier(document));
        Ok(any)
    }

    /// The largest documents and those with the longest arrays, as `growthStats` names them.
    async fn largest_by_statistics(&self) -> Result<Vec<RawDocumentBuf>> {
        let namespace = &self.collection.namespace;
        let database = self.client.database(&namespace.database);
        let reply = database.run_command(doc! { "growthStats": &*namespace.collection }).await?;
        let arrays = reply.get_document("arrays").cloned().unwrap_or_default();
        let arrays = arrays.values().filter_map(Bson::as_document);
        let longest = arrays.filter_map(|array| array.get_array("longest").ok()).flatten();
        let largest = reply.get_array("largest").into_iter().flatten();
        let mut ids: Vec<Bson> = Vec::new();
        for row in largest.chain(longest).filter_map(Bson::as_document) {
            if let Some(id) = row.get("_id").filter(|id| !ids.contains(id)) {
                ids.push(id.clone());
            }
        }
        let mut found = Vec::new();
        // One by one: ten of them may weigh more than a reply takes.
        for id in ids.into_iter().take(2 * OUTLIERS_MAX as usize) {
            let handle = self.handle().clone_with_type::<RawDocumentBuf>();
            let mut find = handle.find_one(doc! { "_id": id });
            if let Some(heads) = self.heads() {
                find = find.projection(heads);
            }
            found.extend(find.await?);
        }
        Ok(found)
    }

    /// What the server itself finds to be large, in the time that is left.
    async fn largest_by_search(&self) -> Result<Vec<RawDocumentBuf>> {
        let larger = doc! { "$gt": [{ "$bsonSize": "$$ROOT" }, OUTLIER_BYTES_MIN] };
        let stages: [Document; 2] =
            [doc! { "$match": { "$expr": larger } }, doc! { "$limit": OUTLIERS_MAX }];
        let handle = self.handle();
        let mut search = handle.aggregate(stages).batch_size(1).comment(COMMENT);
        if let Some(left) = self.left() {
            search = search.max_time(left.max(Duration::from_millis(1)));
        }
        search.with_type::<RawDocumentBuf>().await?.try_collect().await
    }
}
