//! What an audit is asked for.

use super::{Target, Thresholds};
use std::str::FromStr;
use std::time::Duration;

/// Documents of each collection that are looked at in any case.
pub const SAMPLE_DOCUMENTS: u64 = 1_000;
/// What an audit that is not full may use, where nothing is said.
const SAMPLE_TIME: Duration = Duration::from_secs(300);
const SAMPLE_LOAD: f64 = 0.5;

#[derive(Debug, Clone)]
pub struct Options {
    pub uri: String,
    /// Only this database.
    pub database: Option<String>,
    /// Whose limits hold; `None`: what the server says it is.
    pub target: Option<Target>,
    pub reach: Reach,
    pub budget: Budget,
    pub thresholds: Thresholds,
}

/// How many documents are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// As many as the budget allows: all of a collection where there is time for it, else a
    /// sample.
    Budgeted,
    /// So many of each collection.
    Sample(u64),
    /// Every one.
    Full,
}

/// What an audit may use: time, and a share of the time in which the server works for it.
/// What is not given is what suits the reach.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    pub time: Option<Duration>,
    /// Above 0, at most 1.
    pub load: Option<f64>,
}

impl Budget {
    /// A full scan takes what it needs, anything else is gentle.
    pub fn suiting(self, reach: Reach) -> Budget {
        let (time, load) = match reach {
            Reach::Budgeted | Reach::Sample(_) => (Some(SAMPLE_TIME), SAMPLE_LOAD),
            Reach::Full => (None, 1.0),
        };
        Budget { time: self.time.or(time), load: self.load.or(Some(load)) }
    }
}

const EXPECTED: &str = "expected a time, a load or both, such as 60s, 25% or 5m,50%";

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Budget, String> {
        let mut budget = Budget::default();
        for part in text.split(',').map(str::trim) {
            match part.strip_suffix('%') {
                Some(percent) => {
                    let percent = percent.parse::<f64>().ok();
                    let within = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
                    budget.load = Some(within.ok_or(EXPECTED)? / 100.0);
                }
                None => budget.time = Some(duration(part).ok_or(EXPECTED)?),
            }
        }
        Ok(budget)
    }
}

/// `500ms`, `60s`, `5m`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number = digits.parse::<f64>().ok().filter(|number| *number > 0.0)?;
    Duration::try_from_secs_f64(number * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        let read = |text: &str| text.parse::<Budget>().ok();
        let time = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(read("60s"), Some(Budget { time: time(60), load: None }));
        assert_eq!(read("25%"), Some(Budget { time: None, load: Some(0.25) }));
        assert_eq!(read("5m, 50%"), Some(Budget { time: time(300), load: Some(0.5) }));
        assert_eq!(read("0.5h"), Some(Budget { time: time(1800), load: None }));
        let sample = read("60s").map(|it| it.suiting(Reach::Sample(1)));
        assert_eq!(sample, Some(Budget { time: time(60), load: Some(0.5) }));
        for wrong in ["", "60", "0s", "-1s", "0%", "101%", "60s,", "x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
