//! The auditor: finds what will break in a live database, with the evidence.
//!
//! 1. `facts` asks the server what there is: collections, indexes, policies, what clients
//!    ask.
//! 2. `scan` reads documents of each collection, and `census` counts what is in them.
//! 3. `detectors` judge each collection, and at last the whole, by `thresholds` and the
//!    limits of the `target`.
//! 4. What they found becomes a [`Report`], with the `checklist`.
//!
//! Whatever cannot be looked at is noted in the report and never fatal; only where the
//! server cannot be reached at all is there no report.

mod asked;
mod census;
mod checklist;
mod cure;
pub mod detectors;
pub(crate) mod facts;
mod forecast;
mod join;
mod options;
mod outline;
mod scan;
mod target;
mod thresholds;
mod visit;

pub use options::{Budget, Options, Reach, SAMPLE_DOCUMENTS};
pub use target::Target;
pub use thresholds::Thresholds;

use crate::Error;
use crate::report::{self, Finding, Report, Scanned};
use checklist::{Seen, checklist};
use detectors::{DETECTORS, Deployment};
use facts::{Listing, Notes, Server, gather};
use outline::Outline;
use scan::Pace;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Looks at a deployment. Once `stop` is cancelled the report tells what was seen so far.
pub async fn audit(options: &Options, stop: &CancellationToken) -> Result<Report, Error> {
    let begun = Instant::now();
    let started = jiff::Timestamp::now();
    let pace = Arc::new(Pace::new(options.budget.suiting(options.reach)));
    let connecting = Server::connect(&options.uri, options.target);
    let interrupted = || Error::Use("interrupted before the server answered".to_owned());
    let server = stop.run_until_cancelled(connecting).await.ok_or_else(interrupted)??;
    let needs = detectors::needs();
    let gathering = gather(&server, options.database.as_deref(), &needs, pace.until);
    let listing = tokio::select! {
        biased;
        () = stop.cancelled() => Listing::unfinished("interrupted"),
        () = pace.out_of_time() => Listing::unfinished("the time budget was used up"),
        listing = gathering => listing?,
    };
    let Listing { collections, operations_known, sharding_known, listed, mut notes } = listing;
    let visited = visit::all(options, &server, collections, &pace, stop).await;
    notes.append(visited.notes);
    note_pace(&pace, &mut notes);
    let mut findings = visited.findings;
    findings.extend(judge_all(options, &server, &visited.outlines));
    sort(&mut findings);
    let documents = visited.shown.iter().map(|it| it.scanned).sum();
    let seen = Seen {
        documents: documents > 0,
        operations: operations_known,
        sharding: sharding_known,
        sharded: visited.sharded,
    };
    Ok(Report {
        version: report::VERSION,
        target: report::Target {
            kind: server.target.name().to_owned(),
            address: server.address,
            version: server.version,
            database: options.database.clone(),
        },
        scanned: Scanned {
            started: started.to_string(),
            seconds: (begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            mode: options.reach.name().to_owned(),
            complete: visited.complete && listed && !stop.is_cancelled(),
            documents,
            bytes: visited.bytes,
            collections: visited.shown,
            notes: notes.into_vec(),
        },
        checklist: checklist(&findings, seen),
        findings,
    })
}

fn judge_all(options: &Options, server: &Server, collections: &[Outline]) -> Vec<Finding> {
    detectors::look_at_deployment(&Deployment {
        collections,
        target: server.target,
        limits: server.target.limits(),
        thresholds: &options.thresholds,
    })
}

/// The gravest first; then as the detectors and namespaces are in order.
fn sort(findings: &mut [Finding]) {
    let row = |name: &str| DETECTORS.iter().position(|detector| detector.name == name);
    findings.sort_by(|a, b| {
        let grave = b.severity.cmp(&a.severity);
        let grave = grave.then_with(|| row(&a.detector).cmp(&row(&b.detector)));
        grave.then_with(|| (&a.namespace, &a.path).cmp(&(&b.namespace, &b.path)))
    });
}

fn note_pace(pace: &Pace, notes: &mut Notes) {
    let (times, slept) = pace.backed_off();
    if times > 0 {
        notes.add(format!(
            "the server slowed down: the audit stood back {times} times, {:.1} s in all",
            slept.as_secs_f64()
        ));
    }
}
