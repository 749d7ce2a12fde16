//! A run: targets, then workload by workload the targets in turns, then the report.

use std::time::{Duration, Instant};

use bson::doc;
use futures::future::try_join_all;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use mongodb::Database;

use crate::lane::Lane;
use crate::own::Own;
use crate::report::{Figures, Report};
use crate::settle::settle;
use crate::status::integer;
use crate::workloads::{self, Workload};
use crate::{Error, Options, Target};

/// One turn of one target. Short, so that a disturbance of the machine meets every target.
const ROUND: Duration = Duration::from_millis(500);
/// Fills caches and connection pools before anything counts.
const WARM_UP: Duration = Duration::from_millis(200);

/// Runs everything; blocks until the report is there. Must not be called from async code.
pub fn run(options: &Options) -> Result<Report, Error> {
    let workloads = workloads::select(&options.only)?;
    // The server's threads are its own, as they are when it runs for itself.
    let own = if options.own { Some(Own::start()?) } else { None };
    let clients = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = clients.block_on(async {
        let targets = connect(options, own.as_ref()).await?;
        let report = measure_all(options, &workloads, &targets).await;
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
    let (clients, documents) = (options.clients, options.documents);
    let mut targets = Vec::new();
    if let Some(own) = own {
        targets.push(Target::connect(own.uri(), true, clients, documents).await?);
    }
    for uri in &options.uris {
        let target = Target::connect(uri, false, clients, documents).await?;
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
    for workload in workloads {
        progress.set_message(workload.name);
        let outcomes = measure(workload, targets, options.seconds).await?;
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

/// On stderr, and only when that is a terminal.
fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// One workload on every target, in turns. A target that fails is left out of further rounds.
async fn measure(
    workload: &'static Workload,
    targets: &[Target],
    seconds: f64,
) -> Result<Vec<Result<Figures, Error>>, Error> {
    let wanted = Duration::from_secs_f64(seconds);
    let mut courses = Vec::with_capacity(targets.len());
    for target in targets {
        courses.push(Course::start(workload, target).await);
    }
    loop {
        let mut went_on = false;
        for course in &mut courses {
            let Ok(going) = course else { continue };
            if going.elapsed >= wanted {
                continue;
            }
            went_on = true;
            if let Err(error) = going.round(workload, ROUND.min(wanted)).await {
                *course = Err(error);
            }
        }
        if !went_on {
            return Ok(courses.into_iter().map(|course| course?.figures(workload)).collect());
        }
    }
}

/// A workload on one target, over its rounds.
struct Course {
    database: Database,
    lanes: Vec<Lane>,
    elapsed: Duration,
    commits: Commits,
}

impl Course {
    async fn start(workload: &'static Workload, target: &Target) -> Result<Course, Error> {
        let site = &target.site;
        (workload.prepare)(site.clone()).await?;
        settle(&site.database).await;
        let lanes = (0..site.clients)
            .map(|number| Lane::new(site.clone(), number))
            .collect::<Result<_, _>>()?;
        let mut course = Course {
            database: site.database.clone(),
            lanes,
            elapsed: Duration::ZERO,
            commits: Commits::default(),
        };
        course.round(workload, WARM_UP).await?;
        course.lanes.iter_mut().for_each(Lane::reset);
        course.elapsed = Duration::ZERO;
        course.commits = Commits::default();
        Ok(course)
    }

    async fn round(&mut self, workload: &'static Workload, length: Duration) -> Result<(), Error> {
        let before = if workload.commits { Commits::read(&self.database).await } else { None };
        let start = Instant::now();
        let running: Vec<_> = std::mem::take(&mut self.lanes)
            .into_iter()
            .map(|mut lane| {
                lane.open(start + length);
                tokio::spawn((workload.run)(lane))
            })
            .collect();
        let lanes = try_join_all(running).await.map_err(std::io::Error::from)?;
        // An operation under way at the end of a round still counts, and so does its time.
        self.elapsed += start.elapsed();
        self.lanes = lanes.into_iter().collect::<Result<_, _>>()?;
        if let Some(before) = before
            && let Some(after) = Commits::read(&self.database).await
        {
            self.commits.writes += after.writes - before.writes;
            self.commits.fsyncs += after.fsyncs - before.fsyncs;
        }
        Ok(())
    }

    fn figures(self, workload: &Workload) -> Result<Figures, Error> {
        let mut latencies_ns =
            Histogram::<u64>::new(3).map_err(|error| std::io::Error::other(error.to_string()))?;
        let mut done = 0;
        for lane in &self.lanes {
            latencies_ns
                .add(lane.latencies_ns())
                .map_err(|error| std::io::Error::other(error.to_string()))?;
            done += lane.done();
        }
        let microseconds = |quantile| latencies_ns.value_at_quantile(quantile) as f64 / 1000.0;
        Ok(Figures {
            name: workload.name,
            ops_per_s: done as f64 / self.elapsed.as_secs_f64(),
            p50_us: microseconds(0.5),
            p99_us: microseconds(0.99),
            writes_per_fsync: (self.commits.fsyncs > 0)
                .then(|| self.commits.writes as f64 / self.commits.fsyncs as f64),
        })
    }
}

/// What `serverStatus` says under `freeboard.commits`; other servers say nothing.
#[derive(Default, Clone, Copy)]
struct Commits {
    writes: i64,
    fsyncs: i64,
}

impl Commits {
    async fn read(database: &Database) -> Option<Commits> {
        let status = database.run_command(doc! { "serverStatus": 1 }).await.ok()?;
        let commits = status.get_document("freeboard").ok()?.get_document("commits").ok()?;
        Some(Commits { writes: integer(commits, "writes")?, fsyncs: integer(commits, "fsyncs")? })
    }
}
