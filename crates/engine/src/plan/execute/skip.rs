//! Drops the first rows.

use super::{Operator, Running, Shared, Stats, Work};
use error::Result;

pub struct SkipOperation {
    input: Running,
    left: u64,
}

impl SkipOperation {
    pub fn new(input: Running, count: u64) -> SkipOperation {
        SkipOperation { input, left: count }
    }
}

impl Operator for SkipOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        Ok(match self.input.work(shared)? {
            Work::Advanced(_) if self.left > 0 => {
                self.left -= 1;
                stats.skipped += 1;
                Work::Pending
            }
            other => other,
        })
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}
