//! How fast a scan may go.

use super::super::options::Budget;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A server that takes so many times longer than it did is under load.
const SLOWED: f64 = 4.0;
/// What is quicker is not judged.
const QUICK: Duration = Duration::from_millis(30);
/// Batches of fewer bytes are judged by the time they take, others by the time a byte does.
const SMALL_BYTES: usize = 256 * 1024;
/// How fast the memory of quick answers fades, batch by batch: what stays slow becomes usual.
const FADING: f64 = 1.05;
/// The longest a scan stands back at once, in times the answer took and at all.
const BACK_OFF_TIMES_MAX: u32 = 3;
const BACK_OFF_MAX: Duration = Duration::from_secs(2);

/// How much is expected of a server in a second before enough was read to tell, and at most.
const BYTES_A_SECOND: f64 = 20.0 * 1024.0 * 1024.0;
const BYTES_A_SECOND_MAX: f64 = 200.0 * 1024.0 * 1024.0;
const MEASURED_BYTES_MIN: f64 = 8.0 * 1024.0 * 1024.0;

#[derive(Debug)]
pub struct Pace {
    pub until: Option<Instant>,
    load: f64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Seconds that a small batch takes when the server is at its ease,
    small: Option<f64>,
    /// and a byte of a large one.
    byte: Option<f64>,
    /// Slow answers one after the other.
    slow: u32,
    /// Bytes that were read, and the seconds that the server took for them.
    bytes: f64,
    seconds: f64,
    backed_off: Duration,
    times: u64,
}

impl Pace {
    pub fn new(budget: Budget) -> Pace {
        Pace {
            until: budget.time.map(|time| Instant::now() + time),
            load: budget.load.unwrap_or(1.0),
            state: Mutex::default(),
        }
    }

    /// Waits until the time is up.
    pub async fn out_of_time(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until.into()).await,
            None => std::future::pending().await,
        }
    }

    /// Bytes that can be read in so long, at the load that is allowed and as quick as the
    /// server was so far.
    pub fn bytes_within(&self, time: Duration) -> f64 {
        let measured = self.state.lock().ok().filter(|state| state.bytes >= MEASURED_BYTES_MIN);
        let rate = match measured {
            Some(state) => state.bytes / state.seconds.max(1e-3),
            None => BYTES_A_SECOND,
        };
        time.as_secs_f64() * self.load * rate.min(BYTES_A_SECOND_MAX)
    }

    /// Leaves the server alone after a batch of so many bytes that took so long.
    pub async fn keep(&self, took: Duration, bytes: usize) {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let rest = self.share(took) + self.back_off(took, bytes);
        let rest = rest.min(left.unwrap_or(Duration::MAX));
        // A sleep of nothing takes a millisecond nonetheless.
        if !rest.is_zero() {
            tokio::time::sleep(rest).await;
        }
    }

    /// The time that is left to others for what took so long.
    fn share(&self, took: Duration) -> Duration {
        took.mul_f64(1.0 / self.load - 1.0)
    }

    fn back_off(&self, took: Duration, bytes: usize) -> Duration {
        let Ok(mut state) = self.state.lock() else { return Duration::ZERO };
        let seconds = took.as_secs_f64();
        state.bytes += bytes as f64;
        state.seconds += seconds;
        let (cost, usual) = match bytes < SMALL_BYTES {
            true => (seconds, &mut state.small),
            false => (seconds / bytes as f64, &mut state.byte),
        };
        let before = usual.map_or(cost, |usual| usual * FADING);
        *usual = Some(cost.min(before));
        if took < QUICK || cost < before * SLOWED {
            state.slow = 0;
            return Duration::ZERO;
        }
        state.slow = (state.slow + 1).min(BACK_OFF_TIMES_MAX);
        let rest = took.saturating_mul(state.slow).min(BACK_OFF_MAX);
        state.times += 1;
        state.backed_off += rest;
        rest
    }

    /// How often a scan stood back, and for how long in all.
    pub fn backed_off(&self) -> (u64, Duration) {
        self.state.lock().map_or((0, Duration::ZERO), |state| (state.times, state.backed_off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1024 * 1024;

    fn pace(load: f64) -> Pace {
        Pace::new(Budget { time: None, load: Some(load) })
    }

    #[test]
    fn a_share_of_the_time_is_left_to_others() {
        let took = Duration::from_millis(10);
        assert_eq!(pace(0.25).share(took), Duration::from_millis(30));
        assert_eq!(pace(1.0).share(took), Duration::ZERO);
    }

    #[test]
    fn a_server_that_slows_down_is_left_alone_for_longer_and_longer() {
        let pace = pace(1.0);
        let rest = |millis| pace.back_off(Duration::from_millis(millis), BYTES).as_millis();
        assert_eq!(rest(20), 0);
        // Slower, but not by much; then by much.
        assert_eq!(rest(60), 0);
        assert_eq!([rest(200), rest(200), rest(200), rest(200)], [200, 400, 600, 600]);
        assert_eq!(rest(20), 0);
        assert_eq!(rest(2_000), 2_000);
        assert_eq!(pace.backed_off().0, 5);
    }

    #[test]
    fn what_can_be_read_follows_from_what_was() {
        let pace = pace(0.5);
        let second = Duration::from_secs(1);
        assert_eq!(pace.bytes_within(second), BYTES_A_SECOND / 2.0);
        // Ten megabytes that took two seconds.
        for _ in 0..10 {
            pace.back_off(Duration::from_millis(200), BYTES);
        }
        let expected = 2.5 * BYTES as f64;
        assert!((pace.bytes_within(second) - expected).abs() < 1.0);
    }

    #[test]
    fn what_stays_slow_becomes_usual() {
        let pace = pace(1.0);
        let rest = |millis| pace.back_off(Duration::from_millis(millis), BYTES).as_millis();
        rest(20);
        assert!(rest(200) > 0);
        let slow = (0..20).filter(|_| rest(200) > 0).count();
        assert!((1..20).contains(&slow), "{slow}");
        assert_eq!(rest(200), 0);
    }

    #[test]
    fn small_batches_are_not_measured_by_large_ones() {
        let pace = pace(1.0);
        let rest = |millis, bytes| pace.back_off(Duration::from_millis(millis), bytes).as_millis();
        assert_eq!(rest(1, 10 * BYTES), 0);
        assert_eq!(rest(40, 1_000), 0);
        assert_eq!(rest(45, 1_000), 0);
        assert!(rest(40, BYTES) > 0);
    }
}
