//! `$inc` of one document by all clients at once, and by one client alone: the clients
//! together should be no slower than the one.

use bson::doc;

use super::{Counts, Workload};
use crate::Error;
use crate::data::document;
use crate::lane::Lane;
use crate::site::Site;

const TOGETHER_NAME: &str = "inc_one_document";
const ALONE_NAME: &str = "inc_one_document_alone";
const DOCUMENT_BYTES: usize = 1024;
const ID: i64 = 0;

pub const TOGETHER: Workload = Workload {
    name: TOGETHER_NAME,
    help: "$inc of a counter in one document by all clients (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site, TOGETHER_NAME)),
    run: |lane| Box::pin(run(lane, TOGETHER_NAME)),
};

pub const ALONE: Workload = Workload {
    name: ALONE_NAME,
    help: "$inc of a counter in one document by one client (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site, ALONE_NAME)),
    run: |lane| Box::pin(alone(lane)),
};

async fn prepare(site: Site, name: &'static str) -> Result<(), Error> {
    site.collection(name).insert_one(document(ID as u64, DOCUMENT_BYTES)).await?;
    Ok(())
}

async fn alone(lane: Lane) -> Result<Lane, Error> {
    if lane.number > 0 {
        return Ok(lane);
    }
    run(lane, ALONE_NAME).await
}

async fn run(mut lane: Lane, name: &'static str) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal(name, false);
    while let Some(start) = lane.begin() {
        let result =
            collection.update_one(doc! { "_id": ID }, doc! { "$inc": { "n": 1_i64 } }).await?;
        lane.end(start, result.modified_count);
    }
    Ok(lane)
}
