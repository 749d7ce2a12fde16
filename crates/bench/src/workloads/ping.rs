//! A command that does nothing: what client, network and server cost by themselves.

use bson::rawdoc;

use super::{Counts, Workload};
use crate::Error;
use crate::lane::Lane;

pub const WORKLOAD: Workload = Workload {
    name: "ping",
    help: "the ping command",
    counts: Counts::Operations,
    costs: false,
    on_demand: false,
    prepare: |_| Box::pin(async { Ok(()) }),
    run: |lane| Box::pin(run(lane)),
};

async fn run(mut lane: Lane) -> Result<Lane, Error> {
    let database = lane.site.database.clone();
    let ping = rawdoc! { "ping": 1 };
    while let Some(start) = lane.begin() {
        database.run_raw_command(ping.clone()).await?;
        lane.end(start, 1);
    }
    Ok(lane)
}
