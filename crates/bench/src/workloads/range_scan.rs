//! 100 documents of 300 bytes by a range of an indexed field, counted in documents.

use bson::doc;
use futures::TryStreamExt as _;

use super::{Counts, Workload};
use crate::Error;
use crate::data::SMALL;
use crate::lane::Lane;

const RANGE_DOCUMENTS: i64 = 100;

pub const WORKLOAD: Workload = Workload {
    name: "range_scan",
    help: "100 documents of 300 bytes by a range of an indexed field",
    counts: Counts::Documents,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { SMALL.fill_and_index(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection(SMALL.name);
    let first_max = lane.site.documents.saturating_sub(RANGE_DOCUMENTS as u64);
    while let Some(start) = lane.begin() {
        let first = lane.random(first_max) as i64;
        let range = doc! { "n": { "$gte": first, "$lt": first + RANGE_DOCUMENTS } };
        let mut batches =
            collection.find(range).batch_size(RANGE_DOCUMENTS as u32 + 1).batch().await?;
        let mut found = 0;
        while let Some(batch) = batches.try_next().await? {
            found += batch.doc_slices()?.into_iter().count() as u64;
        }
        lane.end(start, found);
    }
    Ok(lane)
}
