//! Building over children that are there already, and a bare scan of them; in children.

use bson::doc;
use futures::TryStreamExt as _;
use futures::future::BoxFuture;

use super::setting::{Family, parents};
use crate::Error;
use crate::lane::Lane;
use crate::site::Site;
use crate::workloads::{Counts, Workload};

const FAMILY: Family = Family { children: "built", parents: "built_parents" };
const SCAN_BATCH_DOCUMENTS: u32 = 5000;

pub const SCAN: Workload = Workload {
    name: "children_scan",
    help: "a scan of all children by one client",
    counts: Counts::Documents,
    costs: false,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site)),
    run: |lane| scan(lane),
};

pub const BUILD: Workload = Workload {
    name: "children_build",
    help: "a policy set over all children, until it is built",
    counts: Counts::Documents,
    costs: false,
    on_demand: true,
    prepare: |site| Box::pin(prepare(site)),
    run: |lane| build(lane),
};

type Run = BoxFuture<'static, Result<Lane, Error>>;

fn each(site: &Site) -> u64 {
    site.elements.div_ceil(parents(site))
}

/// Makes the family without a policy, unless the other side has. The index is there before, as
/// what is measured is the building.
async fn prepare(site: Site) -> Result<(), Error> {
    if site.collection(FAMILY.children).estimated_document_count().await? > 0 {
        return Ok(());
    }
    FAMILY.prepare(&site, parents(&site)).await?;
    FAMILY.index(&site).await?;
    FAMILY.fill(&site, parents(&site), each(&site)).await
}

fn scan(mut lane: Lane) -> Run {
    Box::pin(async move {
        if lane.number > 0 {
            return Ok(lane);
        }
        let collection = lane.site.collection(FAMILY.children);
        while let Some(start) = lane.begin() {
            let find = collection.find(doc! {}).batch_size(SCAN_BATCH_DOCUMENTS);
            let (mut batches, mut found) = (find.batch().await?, 0);
            while let Some(batch) = batches.try_next().await? {
                found += batch.doc_slices()?.into_iter().count() as u64;
            }
            lane.end(start, found);
        }
        Ok(lane)
    })
}

/// Leaves no policy, for the next time.
fn build(mut lane: Lane) -> Run {
    Box::pin(async move {
        if lane.number > 0 {
            return Ok(lane);
        }
        while let Some(start) = lane.begin() {
            FAMILY.keep(&lane.site).await?;
            let children = parents(&lane.site) * each(&lane.site);
            lane.end(start, children);
            FAMILY.drop_policy(&lane.site).await?;
        }
        Ok(lane)
    })
}
