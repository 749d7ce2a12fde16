//! How fast a scan may go.

use super::super::options::Budget;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A server that takes so many times longer than it did is under load.
const SLOWED: f64 = 4.0;
/// What is quicker is not judged.
const QUICK: Duration = Duration::from_millis(30);
/// A batch costs something even if it is empty.
const BATCH_BASE_BYTES: f64 = 256.0 * 1024.0;
/// How fast the memory of quick answers fades.
const FADING: f64 = 1.01;
/// The longest a scan stands back at once.
const BACK_OFF_MAX: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Pace {
    pub until: Option<Instant>,
    load: f64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Seconds a byte takes when the server is at its ease.
    usual: Option<f64>,
    /// Slow answers one after the other.
    slow: u32,
    backed_off: Duration,
    times: u64,
}

impl Pace {
    pub fn new(budget: Budget) -> Pace {
        Pace {
            until: budget.time.map(|time| Instant::now() + time),
            load: budget.load,
            state: Mutex::default(),
        }
    }

    /// How long to leave the server alone after a batch of so many bytes that took so long.
    pub fn rest(&self, took: Duration, bytes: usize) -> Duration {
        let share = took.mul_f64(1.0 / self.load - 1.0);
        share + self.back_off(took, bytes)
    }

    fn back_off(&self, took: Duration, bytes: usize) -> Duration {
        let Ok(mut state) = self.state.lock() else { return Duration::ZERO };
        let cost = took.as_secs_f64() / (bytes as f64 + BATCH_BASE_BYTES);
        let usual = state.usual.map_or(cost, |usual| cost.min(usual * FADING));
        state.usual = Some(usual);
        if took < QUICK || cost < usual * SLOWED {
            state.slow = 0;
            return Duration::ZERO;
        }
        let rest = took.saturating_mul(1 << state.slow.min(4)).min(BACK_OFF_MAX);
        state.slow += 1;
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

    #[test]
    fn a_share_of_the_time_is_left_to_others() {
        let pace = Pace::new(Budget { time: None, load: 0.25 });
        let took = Duration::from_millis(10);
        assert_eq!(pace.rest(took, BYTES), Duration::from_millis(30));
        let pace = Pace::new(Budget { time: None, load: 1.0 });
        assert_eq!(pace.rest(took, BYTES), Duration::ZERO);
    }

    #[test]
    fn a_slow_server_is_left_alone_for_longer_and_longer() {
        let pace = Pace::new(Budget { time: None, load: 1.0 });
        let rest = |millis| pace.rest(Duration::from_millis(millis), BYTES).as_millis();
        assert_eq!(rest(20), 0);
        // Slower, but not by much; then by much.
        assert_eq!(rest(60), 0);
        assert_eq!([rest(200), rest(200), rest(2000)], [200, 400, 2000]);
        assert_eq!(rest(20), 0);
        assert_eq!(rest(200), 200);
        assert_eq!(pace.backed_off().0, 4);
    }
}
