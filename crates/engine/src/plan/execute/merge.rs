//! Merges inputs that are each in order, each record once.

use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::plan::{IndexScan, SortField};
use crate::storage::{Entry, RecordId};
use error::Result;
use rustc_hash::FxHashSet;
use value::key::{self, Direction};

pub struct Operation {
    inputs: Vec<Running>,
    orders: Vec<Order>,
    heads: Vec<Head>,
    seen: FxHashSet<RecordId>,
}

/// The next row of an input.
enum Head {
    Unknown,
    Row(Vec<u8>, Member),
    Done,
}

/// How an input's entries give bytes that sort as the rows are to be sorted.
pub struct Order {
    directions: Vec<Direction>,
    /// For each sort field, the field of the key, and the direction wanted.
    fields: Vec<(usize, Direction)>,
}

impl Order {
    /// `None` if the scan's index does not hold every sort field.
    pub fn of(scan: &IndexScan, sort: &[SortField]) -> Option<Order> {
        let held = |field: &SortField| {
            let at = scan.index.fields.iter().position(|of| of.path == field.path)?;
            Some((at, field.direction))
        };
        Some(Order {
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

impl Operation {
    pub fn new(inputs: Vec<Running>, orders: Vec<Order>) -> Operation {
        let heads = inputs.iter().map(|_| Head::Unknown).collect();
        Operation { inputs, orders, heads, seen: FxHashSet::default() }
    }

    /// The input whose head comes first.
    fn first(&self) -> Option<usize> {
        let rows = self.heads.iter().enumerate().filter_map(|(at, head)| match head {
            Head::Row(bytes, _) => Some((bytes, at)),
            Head::Unknown | Head::Done => None,
        });
        rows.min().map(|(_, at)| at)
    }
}

impl Operator for Operation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if let Some(at) = self.heads.iter().position(|head| matches!(head, Head::Unknown)) {
            match self.inputs[at].work(shared)? {
                Work::Advanced(member) => {
                    let bytes = member.entry.as_ref().map(|entry| self.orders[at].bytes(entry));
                    self.heads[at] = Head::Row(bytes.unwrap_or_default(), member);
                }
                Work::Pending => {}
                Work::Done => self.heads[at] = Head::Done,
            }
            return Ok(Work::Pending);
        }
        let Some(at) = self.first() else { return Ok(Work::Done) };
        let Head::Row(_, member) = std::mem::replace(&mut self.heads[at], Head::Unknown) else {
            return Ok(Work::Pending);
        };
        stats.repeats_tested += 1;
        if self.seen.insert(member.record) {
            return Ok(Work::Advanced(member));
        }
        stats.repeats_dropped += 1;
        Ok(Work::Pending)
    }

    fn inputs(&self) -> Vec<&Running> {
        self.inputs.iter().collect()
    }
}
