//! `$push` on an array of 10, 500 or 5,000 elements, each client its own document. A `$slice`
//! takes off the oldest element, so that the array stays at its size.

use bson::{RawArrayBuf, doc, rawdoc};

use super::{Counts, Workload};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;

pub const ON_10: Workload = Workload {
    name: "push_10",
    help: "$push on an array kept at 10 elements (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site, "push_10", 10)),
    run: |lane| Box::pin(run(lane, "push_10", 10)),
};

pub const ON_500: Workload = Workload {
    name: "push_500",
    help: "$push on an array kept at 500 elements (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site, "push_500", 500)),
    run: |lane| Box::pin(run(lane, "push_500", 500)),
};

pub const ON_5000: Workload = Workload {
    name: "push_5000",
    help: "$push on an array kept at 5,000 elements (j: false)",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |site| Box::pin(prepare(site, "push_5000", 5000)),
    run: |lane| Box::pin(run(lane, "push_5000", 5000)),
};

async fn prepare(site: Site, name: &str, elements: i32) -> Result<(), Error> {
    let collection = site.collection(name);
    let mut entries = RawArrayBuf::new();
    for at in 0..elements {
        entries.push(rawdoc! { "at": i64::from(at), "kind": "visit" });
    }
    for client in 0..site.clients {
        let document = rawdoc! { "_id": client as i64, "entries": entries.clone() };
        collection.insert_one(document).await?;
    }
    Ok(())
}

async fn run(mut lane: Lane, name: &str, elements: i32) -> Result<Lane, Error> {
    let collection = lane.site.collection_with_journal(name, false);
    let id = lane.number as i64;
    while let Some(start) = lane.begin() {
        let at = lane.done() as i64;
        let entries = doc! { "$each": [{ "at": at, "kind": "visit" }], "$slice": -elements };
        let push = doc! { "$push": { "entries": entries } };
        let result = collection.update_one(doc! { "_id": id }, push).await?;
        lane.end(start, result.modified_count);
    }
    Ok(lane)
}
