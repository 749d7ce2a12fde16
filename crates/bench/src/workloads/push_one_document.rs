//! `$push` to one document whose array overflows, by all clients at once and by one client
//! alone: the clients together should not be much slower than the one.

use super::push_overflow::{fill, guard, push};
use super::{Counts, Workload};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;

const TOGETHER_NAME: &str = "push_one_document";
const ALONE_NAME: &str = "push_one_document_alone";
const ELEMENTS: u64 = 2000;
const ID: i64 = 0;

pub const TOGETHER: Workload = Workload {
    name: TOGETHER_NAME,
    help: "$push of 150 bytes to one overflowed array by all clients (j: false)",
    counts: Counts::Operations,
    costs: true,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site, TOGETHER_NAME)),
    run: |lane| Box::pin(run(lane, TOGETHER_NAME)),
};

pub const ALONE: Workload = Workload {
    name: ALONE_NAME,
    help: "$push of 150 bytes to one overflowed array by one client (j: false)",
    counts: Counts::Operations,
    costs: true,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site, ALONE_NAME)),
    run: |lane| Box::pin(alone(lane)),
};

async fn prepare(site: Site, name: &'static str) -> Result<(), Error> {
    guard(&site, name, "oldest").await?;
    fill(&site, name, ID, ELEMENTS).await
}

async fn alone(lane: Lane) -> Result<Lane, Error> {
    if lane.number > 0 {
        return Ok(lane);
    }
    run(lane, ALONE_NAME).await
}

async fn run(mut lane: Lane, name: &'static str) -> Result<Lane, Error> {
    push(&mut lane, name, ID).await?;
    Ok(lane)
}
