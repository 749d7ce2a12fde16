//! Running a plan: each stage does a little work when asked and says what came of
//! it, so that plans can be tried side by side and stopped at any time.

mod collection_scan;
mod complete;
mod count;
mod covered;
mod distinct_scan;
mod execution;
mod fetch;
mod heads_and_pages;
mod id_read;
mod index_scan;
mod limit;
mod merge;
mod open;
mod or;
mod parents;
mod parts;
mod projection;
mod runs;
mod seen;
mod skip;
mod sort;
mod stats;

pub use execution::{Execution, ResultRow};
#[cfg(test)]
pub use sort::sort_key;
pub use stats::{Stats, StatsTree};

use super::{Interrupt, Query};
use crate::storage::{CollectionId, Document, Entry, RecordId, View};
use error::Result;
use language::Needs;
use std::sync::Arc;

/// What every stage of a running plan can reach.
struct Shared {
    view: View,
    collection: CollectionId,
    query: Arc<Query>,
    interrupt: Interrupt,
    /// What is looked at in a document that matched: by the sort, the projection
    /// or the caller.
    needs: Needs,
    /// Whether stages measure the time they take, for `explain`.
    timed: bool,
}

/// A row on its way up.
struct Member {
    record: RecordId,
    entry: Option<Entry>,
    document: Option<Document>,
}

/// What came of one unit of work.
enum Work {
    Advanced(Member),
    /// Nothing yet; ask again.
    Pending,
    Done,
}

/// A stage at work.
trait Operator: Send {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work>;

    /// The stages below, in the order of `Stage::inputs`.
    fn inputs(&self) -> Vec<&Running>;
}

/// An operator and what it has done so far.
struct Running {
    operator: Box<dyn Operator>,
    stats: Stats,
}

impl Running {
    fn new(operator: impl Operator + 'static) -> Running {
        Running { operator: Box::new(operator), stats: Stats::default() }
    }

    fn work(&mut self, shared: &Shared) -> Result<Work> {
        self.stats.works += 1;
        let started = shared.timed.then(std::time::Instant::now);
        let work = self.operator.work(shared, &mut self.stats)?;
        if let Some(started) = started {
            self.stats.time += started.elapsed();
        }
        match &work {
            Work::Advanced(_) => self.stats.advanced += 1,
            Work::Pending => self.stats.pending += 1,
            Work::Done => self.stats.done = true,
        }
        Ok(work)
    }

    fn report(&self) -> StatsTree {
        let inputs = self.operator.inputs().into_iter().map(Running::report).collect();
        StatsTree { stats: self.stats, inputs }
    }
}
