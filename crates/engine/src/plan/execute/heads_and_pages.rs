//! The records that the index of the heads and its mirror on the pages find, each once. Few are
//! put in the order that one index of the whole arrays would give; of many, the first are.

use super::seen::SeenRecords;
use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::storage::RecordId;
use budget::{Held, Kind};
use error::Result;
use value::key::{Direction, skip};

/// Up to how many records are gathered to be put in order, and what their keys may take: an
/// element, and so a key, may be as long as a document.
const ORDERED_MAX: usize = 256;
const ORDERED_BYTES_MAX: usize = 4 * 1024 * 1024;

pub struct HeadsAndPagesOperation {
    inputs: Vec<Running>,
    current: usize,
    keyed: Option<Vec<Direction>>,
    /// Keys and records, until they are in order: then the last is the next.
    gathered: Vec<(Vec<u8>, RecordId)>,
    bytes: usize,
    memory: Held,
    in_order: bool,
    seen: SeenRecords,
}

impl HeadsAndPagesOperation {
    pub fn new(inputs: Vec<Running>, keyed: Option<Vec<Direction>>) -> HeadsAndPagesOperation {
        HeadsAndPagesOperation {
            inputs,
            current: 0,
            keyed,
            gathered: Vec::new(),
            bytes: 0,
            memory: Held::new(Kind::Work),
            in_order: false,
            seen: SeenRecords::new(),
        }
    }

    /// The next from below; `None` if there is none yet.
    fn pull(&mut self, shared: &Shared) -> Result<Option<Member>> {
        let Some(input) = self.inputs.get_mut(self.current) else { return Ok(None) };
        match input.work(shared)? {
            Work::Advanced(member) => return Ok(Some(member)),
            Work::Pending => {}
            Work::Done => self.current += 1,
        }
        Ok(None)
    }

    fn is_done(&self) -> bool {
        self.current == self.inputs.len()
    }

    /// What a key of the heads and one of the pages have in common: those of pages end with the
    /// parent.
    fn shared_part<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let mut end = 0;
        for direction in self.keyed.as_ref()? {
            end += skip(key.get(end..)?, *direction)?;
        }
        key.get(..end)
    }

    fn gather(&mut self, shared: &Shared) -> Result<()> {
        if let Some(member) = self.pull(shared)? {
            let key = member.entry.as_ref().and_then(|entry| self.shared_part(entry.key()));
            let key = key.unwrap_or_default().to_vec();
            self.bytes += key.len();
            self.memory.resize(self.bytes)?;
            self.gathered.push((key, member.record));
        }
        let is_full = self.gathered.len() == ORDERED_MAX || self.bytes >= ORDERED_BYTES_MAX;
        if self.is_done() || is_full {
            self.gathered.sort_unstable_by(|a, b| b.cmp(a));
            self.in_order = true;
        }
        Ok(())
    }
}

impl Operator for HeadsAndPagesOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if !self.in_order {
            self.gather(shared)?;
            return Ok(Work::Pending);
        }
        let record = match self.gathered.pop() {
            Some((key, record)) => {
                self.bytes -= key.len();
                self.memory.resize(self.bytes)?;
                record
            }
            None if self.is_done() => return Ok(Work::Done),
            None => match self.pull(shared)? {
                Some(member) => member.record,
                None => return Ok(Work::Pending),
            },
        };
        stats.repeats_tested += 1;
        if !self.seen.insert(record)? {
            stats.repeats_dropped += 1;
            return Ok(Work::Pending);
        }
        Ok(Work::Advanced(Member { record, entry: None, document: None }))
    }

    fn inputs(&self) -> Vec<&Running> {
        self.inputs.iter().collect()
    }
}
