//! `freeboard audit --full` of a collection of documents of 300 bytes, counted in documents:
//! to be set beside `scan` with as many clients, which does nothing with what it reads.

use insight::audit::{Budget, Options, Reach, Thresholds};
use tokio_util::sync::CancellationToken;

use super::{Counts, Workload};
use crate::Error;
use crate::data::SMALL;
use crate::lane::Lane;
use crate::site::DATABASE;

pub const WORKLOAD: Workload = Workload {
    name: "audit",
    help: "an audit of every document of 300 bytes; to be set beside scan, with --clients 1",
    counts: Counts::Documents,
    costs: false,
    on_demand: true,
    prepare: |site| Box::pin(async move { SMALL.fill(&site).await }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let options = Options {
        uri: lane.site.uri.clone(),
        database: Some(DATABASE.to_owned()),
        target: None,
        reach: Reach::Full,
        budget: Budget::default(),
        thresholds: Thresholds::default(),
    };
    while let Some(start) = lane.begin() {
        let report = insight::audit(&options, &CancellationToken::new()).await?;
        lane.end(start, report.scanned.documents);
    }
    Ok(lane)
}
