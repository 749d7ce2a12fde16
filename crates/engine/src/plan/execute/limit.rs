//! Ends after so many rows.

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
    fn work(&mut self, shared: &Shared, _: &mut Stats) -> Result<Work> {
        if self.left == 0 {
            return Ok(Work::Done);
        }
        let work = self.input.work(shared)?;
        if matches!(work, Work::Advanced(_)) {
            self.left -= 1;
        }
        Ok(work)
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}
