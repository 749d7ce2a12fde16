//! Ends after so many rows.

use super::{Operator, Running, Shared, Stats, Work};
use error::Result;

pub struct LimitOperation {
    input: Running,
    left: u64,
}

impl LimitOperation {
    pub fn new(input: Running, count: u64) -> LimitOperation {
        LimitOperation { input, left: count }
    }
}

impl Operator for LimitOperation {
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
