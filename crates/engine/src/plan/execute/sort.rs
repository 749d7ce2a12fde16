//! Sorts in memory. With a limit it keeps only the rows that can still be first.

use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::index::extract;
use crate::plan::SortField;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use std::collections::BinaryHeap;
use std::sync::Arc;
use value::key::Key;
use value::{Collator, Path};

pub struct Operation {
    input: Running,
    fields: Arc<[SortField]>,
    limit: Option<u64>,
    /// Greatest on top, so that with a limit the row to drop is at hand.
    heap: BinaryHeap<Held>,
    sorted: Option<std::vec::IntoIter<Held>>,
    arrived: u64,
    bytes: u64,
}

struct Held {
    key: Vec<u8>,
    /// Rows with equal keys stay in the order they came.
    number: u64,
    member: Member,
}

impl Held {
    fn order(&self) -> (&[u8], u64) {
        (&self.key, self.number)
    }

    fn bytes(&self) -> u64 {
        let document = self.member.document.as_ref().map_or(0, |found| found.as_bytes().len());
        (self.key.len() + document + size_of::<Held>()) as u64
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl Operation {
    pub fn new(input: Running, fields: Arc<[SortField]>, limit: Option<u64>) -> Operation {
        Operation {
            input,
            fields,
            limit,
            heap: BinaryHeap::new(),
            sorted: None,
            arrived: 0,
            bytes: 0,
        }
    }

    fn add(&mut self, member: Member, shared: &Shared, stats: &mut Stats) -> Result<()> {
        let key = match &member.document {
            Some(document) => sort_key(&self.fields, document, shared.query.collator.as_deref())?,
            None => Vec::new(),
        };
        let held = Held { key, number: self.arrived, member };
        self.arrived += 1;
        self.bytes += held.bytes();
        self.heap.push(held);
        if self.limit.is_some_and(|limit| self.heap.len() as u64 > limit)
            && let Some(dropped) = self.heap.pop()
        {
            self.bytes -= dropped.bytes();
        }
        stats.bytes_held = stats.bytes_held.max(self.bytes);
        if self.bytes > shared.query.sort_bytes_max {
            return Err(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
                "Sort exceeded memory limit of {} bytes, but did not opt in to external sorting.",
                shared.query.sort_bytes_max
            )));
        }
        Ok(())
    }
}

impl Operator for Operation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if let Some(sorted) = &mut self.sorted {
            return Ok(sorted.next().map_or(Work::Done, |held| Work::Advanced(held.member)));
        }
        match self.input.work(shared)? {
            Work::Advanced(member) => self.add(member, shared, stats)?,
            Work::Pending => {}
            Work::Done => {
                let heap = std::mem::take(&mut self.heap);
                self.sorted = Some(heap.into_sorted_vec().into_iter());
            }
        }
        Ok(Work::Pending)
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}

/// Bytes that sort as the fields say: the least of the keys an index on these
/// fields would have. An array counts as its least element, or its greatest if
/// the field is descending.
pub fn sort_key(
    fields: &[SortField],
    document: &RawDocument,
    collator: Option<&Collator>,
) -> Result<Vec<u8>> {
    let mut key = Key::default();
    let plain = fields.iter().all(|field| match extract::single(&field.path, document) {
        Ok(found) => {
            key.push(found.unwrap_or(RawBsonRef::Null), field.direction, collator);
            true
        }
        Err(_) => false,
    });
    if plain {
        return Ok(key.bytes);
    }
    let paths: Vec<&Path> = fields.iter().map(|field| &field.path).collect();
    let mut least: Option<Vec<u8>> = None;
    let walked = extract::tuples(&paths, document, &mut |_, _| {}, &mut |values| {
        let mut key = Key::default();
        for (field, found) in fields.iter().zip(values) {
            key.push(found.unwrap_or(RawBsonRef::Null), field.direction, collator);
        }
        if least.as_ref().is_none_or(|least| key.bytes < *least) {
            least = Some(key.bytes);
        }
        Ok(())
    });
    match walked {
        Ok(()) => Ok(least.unwrap_or_default()),
        Err(error) if error.code() == Code::CannotIndexParallelArrays => {
            Err(Code::BadValue.error("cannot sort with keys that are parallel arrays"))
        }
        Err(error) => Err(error),
    }
}
