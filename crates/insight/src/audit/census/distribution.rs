//! How often which values occur, at most one in a hundred off, with exact ends.

use crate::report::{Bar, Spread};
use hdrhistogram::Histogram;

/// Decimal digits that are kept of a value.
const DIGITS: u8 = 2;

#[derive(Debug, Clone)]
pub struct Distribution {
    /// `None` only where the library refuses its settings, which it does not.
    histogram: Option<Histogram<u64>>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Distribution {
    pub fn new() -> Distribution {
        let histogram = Histogram::new(DIGITS).ok();
        Distribution { histogram, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if let Some(histogram) = &mut self.histogram {
            // It grows by itself; only a value that fits no memory would be left out.
            let _ = histogram.record(value);
        }
    }

    /// Takes in a value that was not met but looked for: it may be the greatest, and says
    /// nothing of how the others are spread.
    pub fn extreme(&mut self, value: u64) {
        self.max = self.max.max(value);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum(&self) -> u128 {
        self.sum
    }

    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The value that this share (0 to 1) of all values does not pass.
    pub fn quantile(&self, share: f64) -> u64 {
        let value = self.histogram.as_ref().map_or(0, |it| it.value_at_quantile(share));
        value.clamp(self.min(), self.max)
    }

    /// How many are at least so large, about.
    pub fn at_least(&self, value: u64) -> u64 {
        let Some(below) = value.checked_sub(1) else { return self.count };
        let Some(histogram) = &self.histogram else { return 0 };
        if value > self.max { 0 } else { self.count - histogram.count_between(0, below) }
    }

    /// What the report shows.
    pub fn spread(&self) -> Spread {
        Spread {
            count: self.count,
            min: self.min(),
            mean: (self.mean() * 10.0).round() / 10.0,
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            max: self.max,
            histogram: self.bars(),
        }
    }

    fn bars(&self) -> Vec<Bar> {
        let Some(histogram) = &self.histogram else { return Vec::new() };
        let mut bars: Vec<Bar> = Vec::new();
        for step in histogram.iter_log(1, 2.0) {
            let (to, count) = (step.value_iterated_to(), step.count_since_last_iteration());
            if count > 0 || !bars.is_empty() {
                bars.push(Bar { to, count });
            }
        }
        while bars.last().is_some_and(|bar| bar.count == 0) {
            bars.pop();
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_exact_and_quantiles_close() {
        let mut lengths = Distribution::new();
        assert_eq!((lengths.min(), lengths.max(), lengths.quantile(0.5)), (0, 0, 0));
        (1..=100_000).for_each(|value| lengths.record(value));
        assert_eq!((lengths.min(), lengths.max()), (1, 100_000));
        for (share, exact) in [(0.5, 50_000.0), (0.9, 90_000.0), (0.99, 99_000.0)] {
            let off = (lengths.quantile(share) as f64 / exact - 1.0).abs();
            assert!(off < 0.01, "{share}: {off}");
        }
        assert_eq!(lengths.at_least(100_001), 0);
        assert_eq!(lengths.at_least(0), 100_000);
        let off = (lengths.at_least(75_001) as f64 / 25_000.0 - 1.0).abs();
        assert!(off < 0.05, "{off}");
    }

    #[test]
    fn bars_hold_every_value_once() {
        let mut lengths = Distribution::new();
        [0, 1, 3, 3, 9, 200].into_iter().for_each(|value| lengths.record(value));
        let bars = lengths.spread().histogram;
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 6);
        assert!(bars.is_sorted_by_key(|bar| bar.to));
        assert!(bars.last().unwrap().to >= 200);
    }
}
