//! One client of a workload: what it may do next, and what it has done so far.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::site::Site;

/// The longest latency told apart from a longer one.
const LATENCY_MAX_NS: u64 = 300_000_000_000;
const LATENCY_DIGITS: u8 = 3;

/// A client keeps its lane over all rounds of a workload on one target.
pub struct Lane {
    pub site: Site,
    /// Which client this is, from 0.
    pub number: usize,
    until: Instant,
    random: u64,
    latencies_ns: Histogram<u64>,
    done: u64,
    numbered: i64,
}

impl Lane {
    pub fn new(site: Site, number: usize) -> Result<Lane, crate::Error> {
        let latencies_ns = Histogram::new_with_bounds(1, LATENCY_MAX_NS, LATENCY_DIGITS)
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        let random = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Ok(Lane { site, number, until: Instant::now(), random, latencies_ns, done: 0, numbered: 0 })
    }

    /// Opens the next round, which ends at `until`.
    pub fn open(&mut self, until: Instant) {
        self.until = until;
    }

    /// Forgets what the warm-up did.
    pub fn reset(&mut self) {
        self.latencies_ns.reset();
        self.done = 0;
    }

    /// The start of the next operation; none once the round is over.
    #[inline]
    pub fn begin(&self) -> Option<Instant> {
        let now = Instant::now();
        (now < self.until).then_some(now)
    }

    /// An operation that began at `start` is done and counts as `count`.
    #[inline]
    pub fn end(&mut self, start: Instant, count: u64) {
        let elapsed = start.elapsed().min(Duration::from_nanos(LATENCY_MAX_NS));
        self.latencies_ns.saturating_record(elapsed.as_nanos() as u64);
        self.done += count;
    }

    /// A number below `limit` (0 when that is 0), from this lane's own sequence.
    #[inline]
    pub fn random(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.checked_rem(limit).unwrap_or(0)
    }

    /// A number that this lane has not given before.
    pub fn number(&mut self) -> i64 {
        self.numbered += 1;
        self.numbered
    }

    pub fn done(&self) -> u64 {
        self.done
    }

    pub fn latencies_ns(&self) -> &Histogram<u64> {
        &self.latencies_ns
    }
}
