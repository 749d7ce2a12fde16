//! How far an audit has come, on a terminal.

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget};
use jobs::progress::{REDRAW_INTERVAL, style};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bar on standard error; hidden where that is no terminal. It counts collections, which are
/// known from the start, and parts of those under way.
#[derive(Debug, Clone)]
pub struct Progress {
    bar: ProgressBar,
    /// Documents looked at, of all collections.
    documents: Arc<AtomicU64>,
    /// Those of one collection.
    part: Option<Arc<Part>>,
}

/// How far one collection has come.
#[derive(Debug, Default)]
struct Part {
    expected: AtomicU64,
    documents: AtomicU64,
    /// Steps that the bar has been given for it.
    steps: AtomicU64,
}

const TEMPLATE: &str = "{spinner} {elapsed} {bar:30} {prefix} documents  {msg}";
/// What the bar is divided into, for each collection.
const STEPS: u64 = 1_000;

impl Progress {
    pub fn new(collections: usize) -> Progress {
        let length = (collections as u64).saturating_mul(STEPS);
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Some(style) = style(TEMPLATE) {
            bar.set_style(style);
        }
        bar.set_prefix("0");
        bar.enable_steady_tick(REDRAW_INTERVAL);
        Progress { bar, documents: Arc::default(), part: None }
    }

    /// For one collection.
    pub fn of_collection(&self) -> Progress {
        Progress { part: Some(Arc::default()), ..self.clone() }
    }

    /// So many documents of the collection are to be looked at.
    pub fn expect(&self, documents: u64) {
        if let Some(part) = &self.part {
            part.expected.store(documents, Ordering::Relaxed);
        }
    }

    pub fn add(&self, documents: u64) {
        let all = self.documents.fetch_add(documents, Ordering::Relaxed) + documents;
        self.bar.set_prefix(HumanCount(all).to_string());
        if let Some(part) = &self.part {
            self.bar.inc(part.add(documents));
        }
    }

    /// The collection is done with, whether all of it was looked at or not.
    pub fn finish(&self) {
        self.bar.inc(self.part.as_ref().map_or(STEPS, |part| part.rest()));
    }

    /// What is being looked at.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// The end of all collections.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Part {
    /// How many steps the bar goes on with so many documents more.
    fn add(&self, documents: u64) -> u64 {
        let seen = self.documents.fetch_add(documents, Ordering::Relaxed) + documents;
        let expected = self.expected.load(Ordering::Relaxed);
        let due = seen.saturating_mul(STEPS).checked_div(expected).unwrap_or(0).min(STEPS);
        due.saturating_sub(self.steps.fetch_max(due, Ordering::Relaxed))
    }

    fn rest(&self) -> u64 {
        STEPS.saturating_sub(self.steps.swap(STEPS, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stays_as_it_is() {
        let progress = Progress::new(2);
        assert_eq!(progress.bar.length(), Some(2 * STEPS));
        let first = progress.of_collection();
        first.expect(10);
        first.add(5);
        assert_eq!(progress.bar.position(), STEPS / 2);
        // There are more than the server said.
        first.add(20);
        first.finish();
        assert_eq!(progress.bar.position(), STEPS);
        // One that nobody knows the size of, and one that is not looked at.
        let second = progress.of_collection();
        second.add(7);
        assert_eq!(progress.bar.position(), STEPS);
        second.finish();
        assert_eq!((progress.bar.position(), progress.bar.length()), (2 * STEPS, Some(2 * STEPS)));
        assert_eq!(progress.documents.load(Ordering::Relaxed), 32);
    }
}
