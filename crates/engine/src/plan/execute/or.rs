//! The rows of several inputs, one after the other, each record once.

use super::seen::SeenRecords;
use super::{Operator, Running, Shared, Stats, Work};
use error::Result;

pub struct OrOperation {
    inputs: Vec<Running>,
    current: usize,
    seen: SeenRecords,
}

impl OrOperation {
    pub fn new(inputs: Vec<Running>) -> OrOperation {
        OrOperation { inputs, current: 0, seen: SeenRecords::new() }
    }
}

impl Operator for OrOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let Some(input) = self.inputs.get_mut(self.current) else { return Ok(Work::Done) };
        match input.work(shared)? {
            Work::Advanced(member) => {
                stats.repeats_tested += 1;
                if self.seen.insert(member.record)? {
                    return Ok(Work::Advanced(member));
                }
                stats.repeats_dropped += 1;
                Ok(Work::Pending)
            }
            Work::Pending => Ok(Work::Pending),
            Work::Done => {
                self.current += 1;
                let last = self.current == self.inputs.len();
                Ok(if last { Work::Done } else { Work::Pending })
            }
        }
    }

    fn inputs(&self) -> Vec<&Running> {
        self.inputs.iter().collect()
    }
}
