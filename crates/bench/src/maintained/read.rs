//! What a page shows of a parent's children: read from the parent, or computed from them.

use bson::{Document, doc};
use futures::TryStreamExt as _;
use futures::future::BoxFuture;

use super::setting::{Family, parents};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;
use crate::workloads::{Counts, Workload};

const FAMILY: Family = Family { children: "shown", parents: "shown_parents" };
/// How many children a parent has.
const EACH: u64 = 100;

pub const COMPUTED: Workload = Workload {
    name: "summary_computed",
    help: "count, average and top 3 of a parent's 100 children, aggregated",
    counts: Counts::Operations,
    costs: false,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site)),
    run: |lane| computed(lane),
};

pub const KEPT: Workload = Workload {
    name: "summary_kept",
    help: "the same, read from the parent",
    counts: Counts::Operations,
    costs: false,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site)),
    run: |lane| kept(lane),
};

type Run = BoxFuture<'static, Result<Lane, Error>>;

/// Makes the family, unless the other side has.
async fn prepare(site: Site) -> Result<(), Error> {
    if site.collection(FAMILY.children).estimated_document_count().await? > 0 {
        return Ok(());
    }
    FAMILY.prepare(&site, parents(&site)).await?;
    FAMILY.index(&site).await?;
    FAMILY.keep(&site).await?;
    FAMILY.fill(&site, parents(&site), EACH).await
}

fn computed(mut lane: Lane) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection(FAMILY.children);
        let parents = parents(&lane.site);
        while let Some(start) = lane.begin() {
            let stages = stages(lane.random(parents) as i64);
            let found: Vec<Document> = collection.aggregate(stages).await?.try_collect().await?;
            lane.end(start, found.len() as u64);
        }
        Ok(lane)
    })
}

fn stages(parent: i64) -> [Document; 3] {
    let shown = doc! { "customerName": "$customerName", "rating": "$rating", "title": "$title" };
    [
        doc! { "$match": { "productId": parent } },
        doc! { "$sort": { "helpful": -1 } },
        doc! { "$group": {
            "_id": null,
            "totalCount": { "$sum": 1 },
            "averageRating": { "$avg": "$rating" },
            "topReviews": { "$firstN": { "input": shown, "n": 3 } },
        } },
    ]
}

fn kept(mut lane: Lane) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection(FAMILY.parents);
        let parents = parents(&lane.site);
        while let Some(start) = lane.begin() {
            let filter = doc! { "_id": lane.random(parents) as i64 };
            let find = collection.find_one(filter).projection(doc! { "reviewSummary": 1 });
            let found = find.await?;
            lane.end(start, u64::from(found.is_some()));
        }
        Ok(lane)
    })
}
