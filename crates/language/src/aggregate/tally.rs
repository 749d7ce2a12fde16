//! What the stages of a run have given out, and how long that took: for `explain`.

use super::Documents;
use bson::RawDocumentBuf;
use error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The figures of one stage; the stages before it are in its time.
#[derive(Debug, Default)]
pub struct Tally {
    returned: AtomicU64,
    nanoseconds: AtomicU64,
}

/// A stage's name and its figures.
pub type Counted = (&'static str, Arc<Tally>);

impl Tally {
    pub fn returned(&self) -> u64 {
        self.returned.load(Ordering::Relaxed)
    }

    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }

    /// Measures what is done.
    pub fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(took, Ordering::Relaxed);
        done
    }

    /// Counts what a stage gives out.
    pub fn count(self: &Arc<Tally>, documents: Documents) -> Documents {
        Box::new(Counting { documents, tally: self.clone() })
    }
}

struct Counting {
    documents: Documents,
    tally: Arc<Tally>,
}

impl Iterator for Counting {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.tally.timed(|| self.documents.next());
        if let Some(Ok(_)) = &next {
            self.tally.returned.fetch_add(1, Ordering::Relaxed);
        }
        next
    }
}
