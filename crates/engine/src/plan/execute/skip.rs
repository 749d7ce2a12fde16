//! Drops the first rows.

use super::{Operator, Running, Shared, Stats, Work};
use error::Result;

pub struct Operation {
    input: Running,
    left: u64,
}

impl Operation {
    pub fn new(input: Running, count: u64) -> Operation {
        Operation { input, left: count }
    }
}

impl Operator for Operation {
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
