//! One document of 1 KB by its `_id`.

use bson::doc;

use super::{Counts, Workload};
use crate::Error;
use crate::data::KILOBYTE;
use crate::lane::Lane;

pub const WORKLOAD: Workload = Workload {
    name: "find_by_id",
    help: "one document of 1 KB by _id",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(async move { KILOBYTE.fill(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection(KILOBYTE.name);
    let documents = lane.site.documents;
    while let Some(start) = lane.begin() {
        let id = lane.random(documents) as i64;
        let found = collection.find_one(doc! { "_id": id }).await?;
        lane.end(start, u64::from(found.is_some()));
    }
    Ok(lane)
}
