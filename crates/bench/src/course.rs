//! A workload on one target, over its rounds.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use hdrhistogram::Histogram;
use mongodb::Database;

use crate::cost::Cost;
use crate::lane::Lane;
use crate::median::Median;
use crate::report::Figures;
use crate::settle::settle;
use crate::workloads::{PING, Workload};
use crate::{Error, Target};

/// Fills caches and connection pools before anything counts.
const WARM_UP: Duration = Duration::from_millis(200);

/// How long pings are sent beside a round of something else.
const PING_ROUND: Duration = Duration::from_millis(100);

pub struct Course {
    database: Database,
    /// Whether the server's CPU time is its own.
    apart: bool,
    lanes: Vec<Lane>,
    pub elapsed: Duration,
    cost: Cost,
    /// The CPU time of an operation, round by round; `None` where it was not told.
    cpu_us: Vec<Option<f64>>,
    /// The rate as a part of that of a ping just before or after, round by round.
    of_ping: Vec<f64>,
}

impl Course {
    pub async fn start(workload: &'static Workload, target: &Target) -> Result<Course, Error> {
        let site = &target.site;
        prepare(workload, target).await?;
        let lanes = (0..site.clients)
            .map(|number| Lane::new(site.clone(), number))
            .collect::<Result<_, _>>()?;
        let mut course = Course {
            database: site.database.clone(),
            apart: target.apart,
            lanes,
            elapsed: Duration::ZERO,
            cost: Cost::default(),
            cpu_us: Vec::new(),
            of_ping: Vec::new(),
        };
        course.round(workload, WARM_UP).await?;
        course.lanes.iter_mut().for_each(Lane::reset);
        course.elapsed = Duration::ZERO;
        course.cost = Cost::default();
        course.cpu_us.clear();
        Ok(course)
    }

    /// Goes on for so long, and gives back the rate in operations a second.
    pub async fn round(
        &mut self,
        workload: &'static Workload,
        length: Duration,
    ) -> Result<f64, Error> {
        let before = if workload.costs { Cost::read(&self.database).await } else { None };
        let done = self.done();
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
        let elapsed = start.elapsed();
        self.elapsed += elapsed;
        self.lanes = lanes.into_iter().collect::<Result<_, _>>()?;
        let done = self.done() - done;
        if let Some(before) = before
            && let Some(after) = Cost::read(&self.database).await
        {
            let cost = after.since(&before);
            let told = self.apart && cost.cpu_us > 0 && done > 0;
            self.cpu_us.push(told.then(|| cost.cpu_us as f64 / done as f64));
            self.cost.add(&cost);
        }
        Ok(done as f64 / elapsed.as_secs_f64())
    }

    /// A round, and one of pings beside it.
    pub async fn round_beside(
        &mut self,
        workload: &'static Workload,
        length: Duration,
        pings: &mut Course,
    ) -> Result<(), Error> {
        let rate = self.round(workload, length).await?;
        let pings = pings.round(&PING, length.min(PING_ROUND)).await?;
        if pings > 0.0 {
            self.of_ping.push(rate / pings);
        }
        Ok(())
    }

    fn done(&self) -> u64 {
        self.lanes.iter().map(Lane::done).sum()
    }

    pub fn figures(self, workload: &Workload) -> Result<Figures, Error> {
        let mut latencies_ns =
            Histogram::<u64>::new(3).map_err(|error| std::io::Error::other(error.to_string()))?;
        for lane in &self.lanes {
            latencies_ns
                .add(lane.latencies_ns())
                .map_err(|error| std::io::Error::other(error.to_string()))?;
        }
        let done = self.done();
        let microseconds = |quantile| latencies_ns.value_at_quantile(quantile) as f64 / 1000.0;
        let each = |sum: i64, of: i64| (sum > 0 && of > 0).then(|| sum as f64 / of as f64);
        Ok(Figures {
            name: workload.name,
            ops_per_s: done as f64 / self.elapsed.as_secs_f64(),
            p50_us: microseconds(0.5),
            p99_us: microseconds(0.99),
            writes_per_fsync: each(self.cost.writes, self.cost.fsyncs),
            journal_bytes_per_op: each(self.cost.journal_bytes, done as i64),
            cpu_us_per_op: Median::of(self.cpu_us.into_iter().flatten().collect())
                .map(|it| it.value),
            of_ping: Median::of(self.of_ping).map(|it| it.value),
        })
    }
}

/// Makes the data of a workload, and waits until the server has got over it.
pub async fn prepare(workload: &'static Workload, target: &Target) -> Result<(), Error> {
    (workload.prepare)(target.site.clone()).await?;
    settle(&target.site.database).await;
    Ok(())
}

/// The other's CPU time over the base's, round by round: what disturbs the machine for a
/// while meets both, and their ratio not at all.
pub fn cpu_ratios(base: &Course, other: &Course) -> Vec<f64> {
    let rounds = base.cpu_us.iter().zip(&other.cpu_us);
    rounds.filter_map(|(base, other)| Some((*other)? / (*base)?)).collect()
}
