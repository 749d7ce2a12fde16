//! Counts: the rows below, or what the store knows.

use super::{Operator, Running, Shared, Stats, Work};
use error::Result;

/// Counts the rows of its input, past `skip` and up to `limit`.
pub struct CountOperation {
    input: Running,
}

impl CountOperation {
    pub fn new(input: Running) -> CountOperation {
        CountOperation { input }
    }
}

impl Operator for CountOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if shared.query.limit().is_some_and(|limit| stats.counted >= limit) {
            return Ok(Work::Done);
        }
        Ok(match self.input.work(shared)? {
            Work::Advanced(_) => {
                if stats.skipped < shared.query.skip {
                    stats.skipped += 1;
                } else {
                    stats.counted += 1;
                }
                Work::Pending
            }
            other => other,
        })
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}

/// The number of records, without reading any.
pub struct RecordCount;

impl Operator for RecordCount {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let counts = shared.view.counts(shared.collection)?;
        stats.skipped = counts.documents.min(shared.query.skip);
        let rest = counts.documents - stats.skipped;
        stats.counted = shared.query.limit().map_or(rest, |limit| rest.min(limit));
        Ok(Work::Done)
    }

    fn inputs(&self) -> Vec<&Running> {
        Vec::new()
    }
}

/// No rows at all.
pub struct Nothing;

impl Operator for Nothing {
    fn work(&mut self, _: &Shared, _: &mut Stats) -> Result<Work> {
        Ok(Work::Done)
    }

    fn inputs(&self) -> Vec<&Running> {
        Vec::new()
    }
}
