//! Inserts of children, spread over many parents or all of one; one by one or in batches.

use futures::future::BoxFuture;

use super::setting::{Family, child, parents};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;
use crate::workloads::{Counts, Workload};

/// What one batch has, and of how many parents.
const BATCH_DOCUMENTS: i64 = 10_000;
const BATCH_PARENTS: i64 = 100;

macro_rules! insert {
    ($name:literal, $help:literal, $kept:literal, $parents:expr) => {
        Workload {
            name: $name,
            help: $help,
            counts: Counts::Operations,
            costs: true,
            on_demand: true,
            prepare: |site| Box::pin(prepare(site, family!($name), $kept)),
            run: |lane| {
                let parents: fn(&Site) -> u64 = $parents;
                run(lane, $name, parents)
            },
        }
    };
}

macro_rules! batch {
    ($name:literal, $kept:literal) => {
        Workload {
            name: $name,
            help: "10,000 children of 100 parents in one insertMany (j: false)",
            counts: Counts::Documents,
            costs: true,
            on_demand: true,
            prepare: |site| Box::pin(prepare_batches(site, family!($name), $kept)),
            run: |lane| run_batches(lane, $name),
        }
    };
}

macro_rules! family {
    ($name:literal) => {
        Family { children: $name, parents: concat!($name, "_parents") }
    };
}

pub const PLAIN: Workload =
    insert!("child_insert", "insert of a child (j: true)", false, |site| parents(site));
pub const KEPT: Workload =
    insert!("child_insert_kept", "the same with its parent kept", true, |site| parents(site));
pub const ONE_PARENT: Workload =
    insert!("child_insert_one_parent", "the same, all of one parent", true, |_| 1);
pub const BATCH_PLAIN: Workload = batch!("child_batch", false);
pub const BATCH_KEPT: Workload = batch!("child_batch_kept", true);

type Run = BoxFuture<'static, Result<Lane, Error>>;

async fn prepare(site: Site, family: Family, kept: bool) -> Result<(), Error> {
    family.prepare(&site, parents(&site)).await?;
    if kept { family.keep(&site).await } else { Ok(()) }
}

/// Both sides have the index, so that what differs are the parents.
async fn prepare_batches(site: Site, family: Family, kept: bool) -> Result<(), Error> {
    family.prepare(&site, BATCH_PARENTS as u64).await?;
    family.index(&site).await?;
    if kept { family.keep(&site).await } else { Ok(()) }
}

/// Numbers that no other client has.
fn next_id(lane: &mut Lane) -> i64 {
    ((lane.number as i64) << 40) + lane.number()
}

fn run(mut lane: Lane, name: &'static str, parents: fn(&Site) -> u64) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection_with_journal(name, true);
        let parents = parents(&lane.site);
        while let Some(start) = lane.begin() {
            let parent = lane.random(parents) as i64;
            collection.insert_one(child(next_id(&mut lane), parent)).await?;
            lane.end(start, 1);
        }
        Ok(lane)
    })
}

fn run_batches(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        // One client: what is written is measured, not how fast.
        if lane.number > 0 {
            return Ok(lane);
        }
        let collection = lane.site.collection_with_journal(name, false);
        while lane.begin().is_some() {
            let batch: Vec<_> = (0..BATCH_DOCUMENTS)
                .map(|at| child(next_id(&mut lane), at % BATCH_PARENTS))
                .collect();
            let Some(start) = lane.begin() else { break };
            collection.insert_many(&batch).await?;
            lane.end(start, batch.len() as u64);
        }
        Ok(lane)
    })
}
