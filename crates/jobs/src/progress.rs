//! How far a job has come: a bar on a terminal, elsewhere a line now and then.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a line is written where there is no terminal to draw on.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

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
        let template = if total.is_some() { unit.template() } else { "{spinner} {human_pos}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
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

impl Unit {
    fn template(self) -> &'static str {
        match self {
            Unit::Documents => "{bar:30} {human_pos}/{human_len} documents, {per_sec}, {eta} left",
            Unit::Bytes => "{bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
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
