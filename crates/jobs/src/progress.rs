//! How far a job has come, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; hidden where that is no terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// Of documents; `total` may be unknown.
    pub fn documents(total: Option<u64>) -> Progress {
        Progress::new(total, "{bar:30} {human_pos}/{human_len} documents, {per_sec}, {eta} left")
    }

    /// Of bytes.
    pub fn bytes(total: Option<u64>) -> Progress {
        Progress::new(total, "{bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left")
    }

    fn new(total: Option<u64>, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let template = if total.is_some() { template } else { "{spinner} {human_pos}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress(bar)
    }

    pub fn add(&self, amount: u64) {
        self.0.inc(amount);
    }

    pub fn set(&self, done: u64, total: u64) {
        self.0.set_length(total.max(done));
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
