//! How fast something grows.
//!
//! A few samples of its size tell: the growth over the last `WINDOW_MS`, or since
//! the first sample if that is younger. Samples lie the further apart the longer
//! the time they span, so that there are never many and one who writes them down
//! seldom has to.

use crate::bytes::{read_number, write_number};
use std::fmt;

pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Growth before this is past.
const WINDOW_MS: u64 = 7 * DAY_MS;
/// Fewer samples say nothing: two are a step, be it of a bulk load.
const SAMPLES_MIN: usize = 3;
/// Between two samples at the least.
const GAP_MIN_MS: u64 = 1_000;
/// Samples are as far apart as this part of the time they span.
const GAP_PART: u64 = 8;
const SAMPLES_MAX: usize = 16;
/// A forecast further ahead is none.
const FORECAST_DAYS_MAX: f64 = 36_500.0;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trend {
    /// Times in milliseconds since 1970, and sizes; in order of time.
    samples: Vec<(u64, u32)>,
}

impl Trend {
    pub fn begin(now_ms: u64, size: u32) -> Trend {
        Trend { samples: vec![(now_ms, size)] }
    }

    /// Notes a size, and says whether that was worth a sample.
    pub fn note(&mut self, now_ms: u64, size: u32) -> bool {
        let (Some((first, _)), Some((last, _))) = (self.samples.first(), self.samples.last())
        else {
            *self = Trend::begin(now_ms, size);
            return true;
        };
        let gap = ((last - first).min(WINDOW_MS) / GAP_PART).max(GAP_MIN_MS);
        if now_ms < last + gap {
            return false;
        }
        self.samples.push((now_ms, size));
        let start = now_ms.saturating_sub(WINDOW_MS);
        let past = self.samples.iter().take_while(|(time, _)| *time <= start).count();
        // As many are left as a rate takes: something may grow once a week.
        let spare = self.samples.len().saturating_sub(SAMPLES_MIN);
        self.samples.drain(..past.saturating_sub(1).min(spare));
        if self.samples.len() >= SAMPLES_MAX {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 1 || at == SAMPLES_MAX
            });
        }
        true
    }

    /// What it grows by in a day; negative if it shrinks. `None` while that is not known:
    /// samples are few, or span less than `observed_min_ms`.
    pub fn per_day(&self, now_ms: u64, size: u32, observed_min_ms: u64) -> Option<f64> {
        if !self.is_observed(observed_min_ms) {
            return None;
        }
        let (time, then) = self.start(now_ms, size)?;
        let span = now_ms.checked_sub(time).filter(|span| *span > 0)?;
        Some((f64::from(size) - then) / span as f64 * DAY_MS as f64)
    }

    /// Whether it has been written to often and long enough to go by.
    fn is_observed(&self, min_ms: u64) -> bool {
        let (Some((first, _)), Some((last, _))) = (self.samples.first(), self.samples.last())
        else {
            return false;
        };
        self.samples.len() >= SAMPLES_MIN && last - first >= min_ms
    }

    /// Where the window begins, and the size there: between two samples it is taken
    /// to have grown evenly.
    fn start(&self, now_ms: u64, size: u32) -> Option<(u64, f64)> {
        let start = now_ms.saturating_sub(WINDOW_MS);
        let past = self.samples.iter().take_while(|(time, _)| *time <= start).count();
        let Some((time, then)) = past.checked_sub(1).and_then(|last| self.samples.get(last)) else {
            return self.samples.first().map(|(time, then)| (*time, f64::from(*then)));
        };
        let (next_time, next) = self.samples.get(past).copied().unwrap_or((now_ms, size));
        let part = (start - time) as f64 / next_time.saturating_sub(*time).max(1) as f64;
        Some((start, f64::from(*then) + (f64::from(next) - f64::from(*then)) * part))
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        write_number(self.samples.len() as u64, out);
        let mut last = 0;
        for (time, size) in &self.samples {
            write_number(time - last, out);
            write_number(u64::from(*size), out);
            last = *time;
        }
    }

    /// Takes a trend off the front; `None` if there is none.
    pub fn read(bytes: &mut &[u8]) -> Option<Trend> {
        let mut samples = Vec::new();
        let mut last = 0u64;
        for _ in 0..read_number(bytes)? {
            last = last.checked_add(read_number(bytes)?)?;
            samples.push((last, u32::try_from(read_number(bytes)?).ok()?));
        }
        Some(Trend { samples })
    }
}

/// The sizes at the times of the samples: `20 at 1700000000000, 30 at …`.
impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (time, size)) in self.samples.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{size} at {time}")?;
        }
        Ok(())
    }
}

/// When something so large reaches a bound, growing so much a day; now, if it is
/// there already. `None` if it does not come to that.
pub fn reached(now_ms: u64, size: u32, per_day: Option<f64>, bound: u32) -> Option<u64> {
    if size >= bound {
        return Some(now_ms);
    }
    let days = f64::from(bound - size) / per_day.filter(|rate| *rate > 0.0)?;
    (days <= FORECAST_DAYS_MAX).then(|| now_ms + (days * DAY_MS as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any day will do.
    const START: u64 = 20_000 * DAY_MS;
    const HOUR: u64 = DAY_MS / 24;

    /// Grows by so much each hour, written to so often.
    fn grown(per_hour: u32, every_ms: u64, hours: u64) -> (Trend, u64, u32) {
        let mut trend = Trend::begin(START, 0);
        let mut now = START;
        while now < START + hours * HOUR {
            now += every_ms;
            trend.note(now, size_at(per_hour, now));
        }
        let size = size_at(per_hour, now);
        (trend, now, size)
    }

    fn size_at(per_hour: u32, now: u64) -> u32 {
        ((now - START) * u64::from(per_hour) / HOUR) as u32
    }

    #[test]
    fn steady_growth_is_told_right_over_any_time() {
        for (every, hours) in [(500, 1), (5_000, 24), (300_000, 24 * 30), (HOUR, 24 * 90)] {
            let (trend, now, size) = grown(1_000, every, hours);
            let rate = trend.per_day(now, size, HOUR / 2).unwrap();
            assert!((rate / 24_000.0 - 1.0).abs() < 0.01, "{every} {hours}: {rate}");
            assert!(trend.samples.len() < SAMPLES_MAX);
        }
    }

    #[test]
    fn few_samples_are_taken() {
        let mut trend = Trend::begin(START, 0);
        let taken = (1..=HOUR / 10).filter(|at| trend.note(START + at * 10, *at as u32)).count();
        assert!(taken < 100, "{taken} samples in an hour");
    }

    #[test]
    fn what_stops_growing_has_stopped_after_the_window() {
        let (trend, now, size) = grown(1_000, 60_000, 24);
        let day_later = trend.per_day(now + DAY_MS, size, HOUR).unwrap();
        assert!((day_later / 12_000.0 - 1.0).abs() < 0.01, "{day_later}");
        let week_later = trend.per_day(now + 8 * DAY_MS, size, HOUR).unwrap();
        assert!(week_later < 300.0, "{week_later}");
    }

    #[test]
    fn what_was_still_for_long_and_grows_now_is_seen() {
        let mut trend = Trend::begin(START, 100);
        let year = START + 365 * DAY_MS;
        for day in 0..7 {
            trend.note(year + day * DAY_MS, 1_000 * (day as u32 + 1));
        }
        let rate = trend.per_day(year + 6 * DAY_MS, 7_000, HOUR).unwrap();
        assert!(rate > 800.0, "{rate}");
    }

    #[test]
    fn seconds_of_growth_are_too_short_to_go_by() {
        // A load of some seconds, which nobody goes on with.
        let mut trend = Trend::begin(START, 0);
        for second in 1..=30 {
            trend.note(START + second * 1_000, second as u32 * 100_000);
        }
        assert_eq!(trend.per_day(START + 30_000, 3_000_000, HOUR), None);
        assert_eq!(trend.per_day(START + 5 * HOUR, 3_000_000, HOUR), None);
        assert!(trend.per_day(START + 30_000, 3_000_000, 1_000).is_some());
    }

    #[test]
    fn two_sizes_are_too_few_to_go_by() {
        let mut trend = Trend::begin(START, 100);
        trend.note(START + HOUR, 200);
        assert_eq!(trend.per_day(START + HOUR, 200, HOUR), None);
        trend.note(START + 2 * HOUR, 300);
        assert_eq!(trend.per_day(START + 2 * HOUR, 300, HOUR), Some(2_400.0));
        assert_eq!(trend.per_day(START - 500, 200, HOUR), None, "the clock went back");
    }

    #[test]
    fn what_grows_once_a_week_is_told() {
        let mut trend = Trend::begin(START, 0);
        for week in 1..=10 {
            trend.note(START + week * WINDOW_MS, week as u32 * 7_000);
        }
        let rate = trend.per_day(START + 10 * WINDOW_MS, 70_000, HOUR).unwrap();
        assert!((rate / 1_000.0 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn forecasts_follow_the_rate() {
        let at = |size, rate| reached(START, size, rate, 1_000);
        assert_eq!(at(500, Some(100.0)), Some(START + 5 * DAY_MS));
        assert_eq!(at(1_000, None), Some(START));
        assert_eq!(at(2_000, Some(-1.0)), Some(START));
        assert_eq!(at(500, Some(-1.0)), None);
        assert_eq!(at(500, Some(0.0)), None);
        assert_eq!(at(500, None), None);
        assert_eq!(at(500, Some(0.001)), None, "not in a hundred years");
    }

    #[test]
    fn samples_can_be_read() {
        let mut trend = Trend::begin(1_000, 20);
        trend.note(9_000, 30);
        assert_eq!(trend.to_string(), "20 at 1000, 30 at 9000");
    }

    #[test]
    fn trends_come_back() {
        let (trend, ..) = grown(1_000, 1_000, 3);
        let mut bytes = Vec::new();
        trend.write(&mut bytes);
        assert_eq!(Trend::read(&mut &bytes[..]), Some(trend));
        assert_eq!(Trend::read(&mut &[3, 1][..]), None);
    }
}
