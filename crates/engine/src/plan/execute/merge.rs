//! Merges inputs that are each in order, each record once.

use super::seen::SeenRecords;
use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::plan::{IndexScan, SortField};
use crate::storage::Entry;
use budget::{Held, Kind};
use error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use value::key::{self, Direction};

pub struct MergeOperation {
    inputs: Vec<Running>,
    orders: Vec<MergeOrder>,
    /// Inputs whose next row is not known.
    unknown: Vec<usize>,
    /// The next rows of the others, the first of all on top; the number of the input decides
    /// between equals.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The rows themselves, by input.
    members: Vec<Option<Member>>,
    seen: SeenRecords,
    /// What the next rows take of the budget.
    bytes: usize,
    memory: Held,
}

/// How an input's entries give bytes that sort as the rows are to be sorted.
pub struct MergeOrder {
    directions: Vec<Direction>,
    /// For each sort field, the field of the key, and the direction wanted.
    fields: Vec<(usize, Direction)>,
}

impl MergeOrder {
    /// `None` if the scan's index does not hold every sort field.
    pub fn of(scan: &IndexScan, sort: &[SortField]) -> Option<MergeOrder> {
        let held = |field: &SortField| {
            let at = scan.index.fields.iter().position(|of| of.path == field.path)?;
            Some((at, field.direction))
        };
        Some(MergeOrder {
            directions: scan.directions(),
            fields: sort.iter().map(held).collect::<Option<_>>()?,
        })
    }

    fn bytes(&self, entry: &Entry) -> Vec<u8> {
        let mut values = Vec::with_capacity(self.directions.len());
        let mut rest = entry.key();
        for direction in &self.directions {
            let len = key::skip(rest, *direction).unwrap_or(rest.len());
            let (value, after) = rest.split_at(len);
            values.push(value);
            rest = after;
        }
        let mut bytes = Vec::new();
        for (field, wanted) in &self.fields {
            let invert = if self.directions[*field] == *wanted { 0 } else { 0xFF };
            bytes.extend(values[*field].iter().map(|byte| byte ^ invert));
        }
        bytes
    }
}

impl MergeOperation {
    pub fn new(inputs: Vec<Running>, orders: Vec<MergeOrder>) -> MergeOperation {
        MergeOperation {
            unknown: (0..inputs.len()).rev().collect(),
            heads: BinaryHeap::with_capacity(inputs.len()),
            members: inputs.iter().map(|_| None).collect(),
            inputs,
            orders,
            seen: SeenRecords::new(),
            bytes: 0,
            memory: Held::new(Kind::Work),
        }
    }
}

/// What a next row takes: the bytes that it is sorted by, its entry, its document.
fn size_bytes(sorted_by: &[u8], member: &Member) -> usize {
    let entry = member.entry.as_ref().map_or(0, Entry::size_bytes);
    let document = member.document.as_ref().map_or(0, |found| found.as_bytes().len());
    sorted_by.len() + entry + document
}

impl Operator for MergeOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if let Some(at) = self.unknown.last().copied() {
            match self.inputs[at].work(shared)? {
                Work::Advanced(member) => {
                    let bytes = member.entry.as_ref().map(|entry| self.orders[at].bytes(entry));
                    let bytes = bytes.unwrap_or_default();
                    self.bytes += size_bytes(&bytes, &member);
                    self.memory.resize(self.bytes)?;
                    self.heads.push(Reverse((bytes, at)));
                    self.members[at] = Some(member);
                    self.unknown.pop();
                }
                Work::Pending => {}
                Work::Done => {
                    self.unknown.pop();
                }
            }
            return Ok(Work::Pending);
        }
        let Some(Reverse((bytes, at))) = self.heads.pop() else { return Ok(Work::Done) };
        self.unknown.push(at);
        let Some(member) = self.members[at].take() else { return Ok(Work::Pending) };
        self.bytes = self.bytes.saturating_sub(size_bytes(&bytes, &member));
        stats.repeats_tested += 1;
        if self.seen.insert(member.record)? {
            return Ok(Work::Advanced(member));
        }
        stats.repeats_dropped += 1;
        Ok(Work::Pending)
    }

    fn inputs(&self) -> Vec<&Running> {
        self.inputs.iter().collect()
    }
}
