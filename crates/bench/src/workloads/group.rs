//! A `$group` with a `$sum` over a whole collection of documents of 300 bytes.

use bson::doc;
use futures::TryStreamExt as _;

use super::{Counts, Workload};
use crate::Error;
use crate::data::SMALL;
use crate::lane::Lane;

pub const WORKLOAD: Workload = Workload {
    name: "group",
    help: "$group with $sum over a whole collection of documents of 300 bytes",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { SMALL.fill(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection(SMALL.name);
    let pipeline = [doc! { "$group": { "_id": "$kind", "total": { "$sum": "$amount" } } }];
    while let Some(start) = lane.begin() {
        let mut batches = collection.aggregate(pipeline.clone()).batch().await?;
        while batches.try_next().await?.is_some() {}
        lane.end(start, 1);
    }
    Ok(lane)
}
