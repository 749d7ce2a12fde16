//! `$inc` of a counter in a document that also holds a 5 MB array.

use bson::doc;

use super::{Counts, Workload};
use crate::Error;
use crate::data::{LARGE, fill_large, large_documents};
use crate::lane::Lane;

pub const WORKLOAD: Workload = Workload {
    name: "inc_beside_5mb",
    help: "$inc of a counter in a document that also holds a 5 MB array (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { fill_large(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal(LARGE, false);
    let id = (lane.number % large_documents(&lane.site)) as i64;
    while let Some(start) = lane.begin() {
        let result = collection
            .update_one(doc! { "_id": id }, doc! { "$inc": { "counter": 1_i64 } })
            .await?;
        lane.end(start, result.modified_count);
    }
    Ok(lane)
}
