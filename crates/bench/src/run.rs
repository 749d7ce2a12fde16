//! A run: targets, then workload by workload the targets in turns, then the report.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::course::Course;
use crate::own::Own;
use crate::pair::{self, Pair};
use crate::report::{Figures, Report};
use crate::workloads::{self, PING, Workload};
use crate::{Error, Options, Target};

/// One turn of one target. Short, so that a disturbance of the machine meets every target.
pub(crate) const ROUND: Duration = Duration::from_millis(500);

/// What a run measures.
enum Plan {
    Workloads(Vec<&'static Workload>),
    Pairs(Vec<&'static Pair>),
}

/// Runs everything; blocks until the report is there. Must not be called from async code.
pub fn run(options: &Options) -> Result<Report, Error> {
    let plan = match options.growth {
        true => Plan::Pairs(pair::select(&options.only)?),
        false => Plan::Workloads(workloads::select(&options.only)?),
    };
    let own = if options.own { Some(Own::start(options)?) } else { None };
    let clients = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = clients.block_on(async {
        let targets = connect(options, own.as_ref()).await?;
        let work = async {
            match &plan {
                Plan::Workloads(workloads) => measure_all(options, workloads, &targets).await,
                Plan::Pairs(pairs) => compare_all(options, pairs, &targets).await,
            }
        };
        let report = tokio::select! {
            report = work => report,
            () = jobs::interrupt("stopping, and cleaning up") => Err(Error::Interrupted),
        };
        // The own server's data go with its directory.
        for target in targets.iter().filter(|target| !target.own) {
            target.site.database.drop().await?;
        }
        report
    });
    clients.shutdown_background();
    if let Some(own) = own {
        own.stop();
    }
    report
}

async fn connect(options: &Options, own: Option<&Own>) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    if let Some(own) = own {
        let mut target = Target::connect(own.uri(), true, options).await?;
        target.apart = own.is_apart();
        targets.push(target);
    }
    for uri in &options.uris {
        let target = Target::connect(uri, false, options).await?;
        target.site.database.drop().await?;
        targets.push(target);
    }
    if targets.is_empty() {
        return Err(Error::NoTarget);
    }
    Ok(targets)
}

async fn measure_all(
    options: &Options,
    workloads: &[&'static Workload],
    targets: &[Target],
) -> Result<Report, Error> {
    let mut report = Report::new(options, targets);
    let progress = progress(workloads.len());
    let mut pings = pings(workloads, targets).await;
    for workload in workloads {
        progress.set_message(workload.name);
        let outcomes = measure(workload, targets, options.seconds, &mut pings).await?;
        report.add(workload, outcomes);
        for target in targets {
            // What stays takes room and does no other harm.
            let _ = target.site.collection(workload.name).drop().await;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(report)
}

async fn compare_all(
    options: &Options,
    pairs: &[&'static Pair],
    targets: &[Target],
) -> Result<Report, Error> {
    let mut report = Report::new(options, targets);
    let progress = progress(pairs.len());
    for pair in pairs {
        progress.set_message(pair.name);
        for (at, target) in targets.iter().enumerate() {
            let outcome = pair::compare(pair, target, options.seconds).await;
            report.add_pair(at, pair, outcome);
            for workload in [&pair.base, &pair.other] {
                // What stays takes room and does no other harm.
                let _ = target.site.collection(workload.name).drop().await;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(report)
}

/// On stderr, and only when that is a terminal.
fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Pings for each target, to be sent beside other workloads: a machine that is busy with
/// something else slows both. `None` where nobody asks for them.
async fn pings(workloads: &[&'static Workload], targets: &[Target]) -> Vec<Option<Course>> {
    let wanted = workloads.len() > 1 && workloads.iter().any(|row| row.name == PING.name);
    let mut pings = Vec::with_capacity(targets.len());
    for target in targets {
        pings.push(if wanted { Course::start(&PING, target).await.ok() } else { None });
    }
    pings
}

/// One workload on every target, in turns. A target that fails is left out of further rounds.
async fn measure(
    workload: &'static Workload,
    targets: &[Target],
    seconds: f64,
    pings: &mut [Option<Course>],
) -> Result<Vec<Result<Figures, Error>>, Error> {
    let wanted = Duration::from_secs_f64(seconds);
    let mut courses = Vec::with_capacity(targets.len());
    for target in targets {
        courses.push(Course::start(workload, target).await);
    }
    loop {
        let mut went_on = false;
        for (course, pings) in courses.iter_mut().zip(&mut *pings) {
            let Ok(going) = course else { continue };
            if going.elapsed >= wanted {
                continue;
            }
            went_on = true;
            let round = ROUND.min(wanted);
            let gone = match pings {
                Some(pings) if workload.name != PING.name => {
                    going.round_beside(workload, round, pings).await
                }
                _ => going.round(workload, round).await.map(drop),
            };
            if let Err(error) = gone {
                *course = Err(error);
            }
        }
        if !went_on {
            return Ok(courses.into_iter().map(|course| course?.figures(workload)).collect());
        }
    }
}
