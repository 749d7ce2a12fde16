//! A whole collection of documents of 300 bytes through cursors, counted in documents.

use bson::doc;
use futures::TryStreamExt as _;

use super::{Counts, Workload};
use crate::Error;
use crate::data::SMALL;
use crate::lane::Lane;

/// Large enough to be cheap, small enough that a round ends on time.
const BATCH_DOCUMENTS: u32 = 5000;

pub const WORKLOAD: Workload = Workload {
    name: "scan",
    help: "a whole collection of documents of 300 bytes, in batches of 5,000",
    counts: Counts::Documents,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { SMALL.fill(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection(SMALL.name);
    while let Some(mut start) = lane.begin() {
        let mut batches = collection.find(doc! {}).batch_size(BATCH_DOCUMENTS).batch().await?;
        while let Some(batch) = batches.try_next().await? {
            lane.end(start, batch.doc_slices()?.into_iter().count() as u64);
            // The cursor goes with the round.
            let Some(next) = lane.begin() else { return Ok(lane) };
            start = next;
        }
    }
    Ok(lane)
}
