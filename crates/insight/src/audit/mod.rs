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

mod ask;
mod asked;
mod census;
mod checklist;
mod cure;
pub mod detectors;
pub(crate) mod facts;
mod fold;
mod forecast;
mod join;
mod options;
mod outline;
pub(crate) mod scan;
mod target;
mod thresholds;
mod visit;

pub use options::{Budget, Options, Reach, SAMPLE_DOCUMENTS};
pub use target::Target;
pub use thresholds::Thresholds;

use crate::Error;
use crate::report::{self, Finding, LookedAt, Report, Scanned};
use checklist::{Seen, checklist};
use detectors::{DETECTORS, Deployment};
use facts::{Listing, Notes, Server, gather};
use outline::Outline;
use scan::Pace;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// A document with this share of its limit is as good as full.
const FULL_SHARE: f64 = 0.99;

/// Looks at a deployment. Once `stop` is cancelled the report shows what was seen so far.
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
    let Listing { collections, operations_known, sharding_known, mut notes } = listing;
    let visited = visit::all(options, &server, collections, &pace, stop).await;
    notes.append(visited.notes);
    note_pace(&pace, &mut notes);
    let findings = judge_all(options, &server, &visited.outlines, visited.findings);
    if stop.is_cancelled() && !notes.any_missed() {
        notes.miss(None, "interrupted");
    }
    let complete = !notes.any_missed();
    let notes = notes.into_vec();
    let looked_at = LookedAt::new(&visited.shown, &notes);
    let seen = Seen {
        looked_at: &looked_at,
        unseen: &visited.unseen,
        collections: &visited.shown,
        operations: operations_known,
        sharding: sharding_known,
        sharded: visited.sharded,
        size_limit: options.thresholds.massive_document.warn_bytes,
    };
    let whole = visited.shown.iter().all(|it| it.whole);
    Ok(Report {
        version: report::VERSION,
        checklist: checklist(&findings, &seen),
        looked_at,
        target: report::Target {
            kind: server.target.name().to_owned(),
            address: server.address,
            version: server.version,
            database: options.database.clone(),
        },
        scanned: Scanned {
            started: started.to_string(),
            seconds: (begun.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            mode: if whole { "full" } else { "sample" }.to_owned(),
            complete,
            documents: visited.shown.iter().map(|it| it.scanned).sum(),
            bytes: visited.bytes,
            collections: visited.shown,
            notes,
        },
        findings,
    })
}

/// What is found in the whole, beside what was found in each collection, in order.
fn judge_all(
    options: &Options,
    server: &Server,
    collections: &[Outline],
    findings: Vec<Finding>,
) -> Vec<Finding> {
    let deployment = Deployment {
        collections,
        target: server.target,
        limits: server.target.limits(),
        thresholds: &options.thresholds,
    };
    let families = detectors::all_families(&deployment);
    let mut findings = fold::by_family(findings, &families);
    findings.extend(detectors::look_at_deployment(&deployment));
    sort(&mut findings);
    findings
}

/// The gravest first; of those what breaks first, by its forecast or else by its kind; then as
/// the detectors and namespaces are in order.
fn sort(findings: &mut [Finding]) {
    let row = |name: &str| DETECTORS.iter().position(|detector| detector.name == name);
    let harm = |name: &str| row(name).and_then(|at| DETECTORS.get(at)).map(|it| it.harm);
    findings.sort_by(|a, b| {
        let grave = b.severity.cmp(&a.severity);
        let grave = grave.then_with(|| days_left(a).total_cmp(&days_left(b)));
        let grave = grave.then_with(|| harm(&a.detector).cmp(&harm(&b.detector)));
        let grave = grave.then_with(|| row(&a.detector).cmp(&row(&b.detector)));
        grave.then_with(|| (&a.namespace, &a.path).cmp(&(&b.namespace, &b.path)))
    });
}

/// Days until something breaks, where that is known.
fn days_left(finding: &Finding) -> f64 {
    let figure = |name: &str| finding.evidence.figures.get(name)?.as_f64();
    let full = figure("share_of_limit").filter(|share| *share >= FULL_SHARE).map(|_| 0.0);
    full.or(figure("days_to_limit")).unwrap_or(f64::INFINITY)
}

fn note_pace(pace: &Pace, notes: &mut Notes) {
    let (times, slept) = pace.backed_off();
    if times > 0 {
        notes.add(format!(
            "the server slowed down: the audit stood back {}, {:.1} s in all",
            crate::figures::counted(times, "time"),
            slept.as_secs_f64()
        ));
    }
}
