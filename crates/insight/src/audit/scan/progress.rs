//! How far an audit has come, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar on standard error; hidden where that is no terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

const TEMPLATE: &str = "{bar:30} {human_pos}/{human_len} documents, {per_sec}, {eta} left  {msg}";
const REDRAW: Duration = Duration::from_millis(200);

impl Progress {
    pub fn new() -> Progress {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(REDRAW);
        Progress(bar)
    }

    /// So many documents are to be looked at in addition.
    pub fn expect(&self, documents: u64) {
        self.0.inc_length(documents);
    }

    pub fn add(&self, documents: u64) {
        self.0.inc(documents);
    }

    /// What is being looked at.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
