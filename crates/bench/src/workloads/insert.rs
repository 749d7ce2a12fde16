//! One document of 1 KB an insert, acknowledged after the sync (durable) or before (relaxed).

use bson::oid::ObjectId;
use bson::{RawDocumentBuf, rawdoc};

use super::{Counts, Workload};
use crate::Error;
use crate::data::pad;
use crate::lane::Lane;

const DOCUMENT_BYTES: usize = 1024;

pub const DURABLE: Workload = Workload {
    name: "insert_durable",
    help: "insert of 1 KB, acknowledged after the sync (j: true)",
    counts: Counts::Operations,
    costs: true,
    on_demand: false,
    prepare: |_| Box::pin(async { Ok(()) }),
    run: |lane| Box::pin(run(lane, "insert_durable", true)),
};

pub const RELAXED: Workload = Workload {
    name: "insert_relaxed",
    help: "insert of 1 KB, acknowledged before the sync (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |_| Box::pin(async { Ok(()) }),
    run: |lane| Box::pin(run(lane, "insert_relaxed", false)),
};

async fn run(mut lane: Lane, name: &str, durable: bool) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal(name, durable);
    while let Some(start) = lane.begin() {
        collection.insert_one(document(lane.number)).await?;
        lane.end(start, 1);
    }
    Ok(lane)
}

fn document(client: usize) -> RawDocumentBuf {
    let mut document = rawdoc! { "_id": ObjectId::new(), "client": client as i64 };
    pad(&mut document, DOCUMENT_BYTES);
    document
}
