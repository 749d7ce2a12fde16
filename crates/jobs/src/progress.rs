//! How far a job has come: a bar on a terminal, elsewhere a line now and then.

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget};
use indicatif::{ProgressState, ProgressStyle};
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a line is written where there is no terminal to draw on.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// How often a bar is drawn, whether or not something has come of the work: a batch may take
/// long, and a bar that stands still looks as if the job did.
pub const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// Told on standard error.
pub struct Progress {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    lines: Lines,
}

/// What the lines say, and how many there were.
struct Lines {
    job: &'static str,
    unit: Unit,
    begun: Instant,
    told: AtomicU64,
}

#[derive(Clone, Copy)]
enum Unit {
    Documents,
    Bytes,
}

impl Progress {
    /// Of documents; `total` may be unknown.
    pub fn documents(job: &'static str, total: Option<u64>) -> Progress {
        Progress::new(job, total, Unit::Documents)
    }

    /// Of bytes.
    pub fn bytes(job: &'static str, total: Option<u64>) -> Progress {
        Progress::new(job, total, Unit::Bytes)
    }

    fn new(job: &'static str, total: Option<u64>, unit: Unit) -> Progress {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let template =
            if total.is_some() { unit.template() } else { "{spinner} {elapsed} {human_pos}" };
        if let Some(style) = style(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(REDRAW_INTERVAL);
        let lines = Lines { job, unit, begun: Instant::now(), told: AtomicU64::new(0) };
        Progress { bar, lines }
    }

    pub fn add(&self, amount: u64) {
        self.bar.inc(amount);
        self.tell();
    }

    pub fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total.max(done));
        self.bar.set_position(done);
        self.tell();
    }

    fn tell(&self) {
        if self.bar.is_hidden() && self.lines.is_due(self.lines.begun.elapsed()) {
            let line = self.lines.line(self.bar.position(), self.bar.length());
            // The job goes on, whoever reads.
            let _ = writeln!(std::io::stderr(), "freeboard: {line}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Lines {
    /// Whether it is time for another, once for each interval.
    fn is_due(&self, elapsed: Duration) -> bool {
        let due = elapsed.as_secs() / LINE_INTERVAL.as_secs();
        self.told.fetch_max(due, Ordering::Relaxed) < due
    }

    fn line(&self, done: u64, total: Option<u64>) -> String {
        let total = total.filter(|total| *total > 0);
        let of = total.map(|total| format!(" of {}", self.unit.show(total))).unwrap_or_default();
        let unit = match self.unit {
            Unit::Documents => " documents",
            Unit::Bytes => "",
        };
        format!("{}: {}{of}{unit}", self.job, self.unit.show(done))
    }
}

/// The style of a template in which `{rate}` is how many come in a second.
pub fn style(template: &str) -> Option<ProgressStyle> {
    let style = ProgressStyle::with_template(template).ok()?;
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&rate(state.per_sec()));
    };
    Some(style.with_key("rate", rate))
}

/// A rate as people read it: `1,234/s`, `0.7/s`.
fn rate(per_second: f64) -> String {
    match per_second {
        slow if slow < 10.0 => format!("{slow:.1}/s"),
        fast => format!("{}/s", HumanCount(fast.round() as u64)),
    }
}

impl Unit {
    fn template(self) -> &'static str {
        match self {
            Unit::Documents => {
                "{spinner} {elapsed} {bar:30} {human_pos}/{human_len} documents, {rate}, {eta} left"
            }
            Unit::Bytes => {
                "{spinner} {elapsed} {bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left"
            }
        }
    }

    fn show(self, number: u64) -> String {
        match self {
            Unit::Documents => number.to_string(),
            Unit::Bytes => HumanBytes(number).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_no_digits_that_nobody_reads() {
        assert_eq!(rate(0.0), "0.0/s");
        assert_eq!(rate(0.6789), "0.7/s");
        assert_eq!(rate(307.2058), "307/s");
        assert_eq!(rate(1_234_567.8), "1,234,568/s");
        assert!(style(Unit::Documents.template()).is_some());
        assert!(style(Unit::Bytes.template()).is_some());
    }

    #[test]
    fn a_line_comes_now_and_then() {
        let documents = Progress::documents("migrating", Some(70));
        assert_eq!(documents.lines.line(5, Some(70)), "migrating: 5 of 70 documents");
        assert_eq!(documents.lines.line(5, None), "migrating: 5 documents");
        let bytes = Progress::bytes("importing", Some(0));
        assert_eq!(bytes.lines.line(2048, Some(4096)), "importing: 2.00 KiB of 4.00 KiB");
        let due = |seconds| bytes.lines.is_due(Duration::from_secs(seconds));
        assert_eq!(
            [0, 9, 10, 19, 45, 49, 50].map(due),
            [false, false, true, false, true, false, true]
        );
    }
}
