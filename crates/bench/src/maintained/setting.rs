//! Parents and children, and the policy that keeps the ones up to date with the others.

use std::time::Duration;

use bson::{Document, RawDocumentBuf, doc, rawdoc};
use futures::future::try_join_all;

use crate::Error;
use crate::data::pad;
use crate::site::Site;

const PARENTS_MAX: u64 = 10_000;
const PARENT_BYTES: usize = 512;
const CHILD_BYTES: usize = 300;
const BATCH_DOCUMENTS: u64 = 10_000;
const FILL_WRITERS: u64 = 4;
/// How often the server is asked whether it is still building.
const BUILD_LOOK: Duration = Duration::from_millis(20);
/// Ratings are from 1 to this; a child that has less is the least.
const RATINGS: i64 = 5;

/// Children and the collection of their parents.
#[derive(Clone, Copy)]
pub struct Family {
    pub children: &'static str,
    pub parents: &'static str,
}

pub fn parents(site: &Site) -> u64 {
    site.documents.min(PARENTS_MAX)
}

impl Family {
    /// Makes anew what an earlier comparison may have left: so many parents without children.
    pub async fn prepare(self, site: &Site, parents: u64) -> Result<(), Error> {
        // The first time there is none.
        let _ = self.drop_policy(site).await;
        site.collection(self.children).drop().await?;
        site.collection(self.parents).drop().await?;
        let collection = site.collection_with_journal(self.parents, false);
        let documents: Vec<_> = (0..parents as i64).map(parent).collect();
        collection.insert_many(&documents).await?;
        Ok(())
    }

    /// Keeps count, average, the least rating and the top 3 from here on, and waits until they
    /// are there for the children that are.
    pub async fn keep(self, site: &Site) -> Result<(), Error> {
        let policy = doc! { "maintains": [{
            "parent": self.parents,
            "on": { "productId": "_id" },
            "subset": {
                "field": "reviewSummary.topReviews",
                "sort": { "helpful": -1 },
                "limit": 3,
                "fields": ["customerName", "rating", "title"],
            },
            "computed": self.computed(),
            "missing_parent": "ignore",
        }] };
        site.database
            .run_command(doc! { "setGrowthPolicy": self.children, "policy": policy })
            .await?;
        while self.is_building(site).await? {
            tokio::time::sleep(BUILD_LOOK).await;
        }
        Ok(())
    }

    fn computed(self) -> Document {
        let mut computed = doc! {
            "reviewSummary.totalCount": { "count": true },
            "reviewSummary.averageRating": { "avg": "rating" },
        };
        if self.keeps_least() {
            computed.insert("reviewSummary.lowestRating", doc! { "min": "rating" });
        }
        computed
    }

    /// Only where it is deleted: it takes an index more.
    fn keeps_least(self) -> bool {
        self.children.starts_with(super::long::PREFIX)
    }

    pub async fn drop_policy(self, site: &Site) -> Result<(), Error> {
        site.database.run_command(doc! { "dropGrowthPolicy": self.children }).await?;
        Ok(())
    }

    async fn is_building(self, site: &Site) -> Result<bool, Error> {
        let reply = site.database.run_command(doc! { "getGrowthPolicy": self.children }).await?;
        let building = |of: &Document| of.get_bool("building").unwrap_or(false);
        let Ok(policy) = reply.get_document("policy") else { return Ok(false) };
        let entries = policy.get_array("maintains").into_iter().flatten();
        let mut entries = entries.filter_map(|entry| entry.as_document());
        Ok(building(&reply) || building(policy) || entries.any(building))
    }

    /// The index that the policy would provide for the subset.
    pub async fn index(self, site: &Site) -> Result<(), Error> {
        let key = doc! { "productId": 1, "helpful": -1, "_id": 1 };
        let index = doc! { "key": key, "name": "productId_1_helpful_-1__id_1" };
        let create = doc! { "createIndexes": self.children, "indexes": [index] };
        site.database.run_command(create).await?;
        Ok(())
    }

    /// Inserts children, so many of each of so many parents, the ids from 0.
    pub async fn fill(self, site: &Site, parents: u64, each: u64) -> Result<(), Error> {
        let collection = site.collection_with_journal(self.children, false);
        let (collection, all) = (&collection, parents * each);
        try_join_all((0..FILL_WRITERS).map(|writer| async move {
            let mut first = writer * BATCH_DOCUMENTS;
            while first < all {
                let end = (first + BATCH_DOCUMENTS).min(all);
                let batch: Vec<_> =
                    (first..end).map(|id| child(id as i64, (id / each) as i64)).collect();
                collection.insert_many(&batch).await?;
                first += FILL_WRITERS * BATCH_DOCUMENTS;
            }
            Ok::<(), Error>(())
        }))
        .await?;
        Ok(())
    }
}

fn parent(id: i64) -> RawDocumentBuf {
    let mut document = rawdoc! { "_id": id, "title": "a product", "price": 19.99 };
    pad(&mut document, PARENT_BYTES);
    document
}

/// A child that is more helpful than those with lower ids.
pub fn child(id: i64, parent: i64) -> RawDocumentBuf {
    rated(id, parent, (id % RATINGS + 1) as f64)
}

/// The same with another rating.
pub fn rated(id: i64, parent: i64, rating: f64) -> RawDocumentBuf {
    let mut document = rawdoc! {
        "_id": id,
        "productId": parent,
        "rating": rating,
        "helpful": id,
        "customerName": "a customer",
        "title": "as described",
    };
    pad(&mut document, CHILD_BYTES);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_size_they_say() {
        assert_eq!(child(999_999, 77).as_bytes().len(), CHILD_BYTES);
        assert_eq!(parent(9_999).as_bytes().len(), PARENT_BYTES);
    }
}
