//! A read of one small field of a document that also holds a 5 MB array.

use bson::doc;

use super::{Counts, Workload};
use crate::Error;
use crate::data::{LARGE, fill_large, large_documents};
use crate::lane::Lane;

pub const WORKLOAD: Workload = Workload {
    name: "name_beside_5mb",
    help: "one small field of a document that also holds a 5 MB array",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { fill_large(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection(LARGE);
    let id = (lane.number % large_documents(&lane.site)) as i64;
    while let Some(start) = lane.begin() {
        let found = collection.find_one(doc! { "_id": id }).projection(doc! { "name": 1 }).await?;
        lane.end(start, u64::from(found.is_some()));
    }
    Ok(lane)
}
