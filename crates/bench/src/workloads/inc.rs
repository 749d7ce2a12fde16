//! `$inc` of a counter in a document of 1 KB, each client its own.

use bson::doc;

use super::{Counts, Workload};
use crate::Error;
use crate::data::document;
use crate::lane::Lane;
use crate::site::Site;

const NAME: &str = "inc";
const DOCUMENT_BYTES: usize = 1024;

pub const WORKLOAD: Workload = Workload {
    name: NAME,
    help: "$inc of a counter in a document of 1 KB (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site)),
    run: |lane| Box::pin(run(lane)),
};

async fn prepare(site: Site) -> Result<(), Error> {
    let documents: Vec<_> =
        (0..site.clients).map(|client| document(client as u64, DOCUMENT_BYTES)).collect();
    site.collection(NAME).insert_many(&documents).await?;
    Ok(())
}

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal(NAME, false);
    let id = lane.number as i64;
    while let Some(start) = lane.begin() {
        let result =
            collection.update_one(doc! { "_id": id }, doc! { "$inc": { "n": 1_i64 } }).await?;
        lane.end(start, result.modified_count);
    }
    Ok(lane)
}
