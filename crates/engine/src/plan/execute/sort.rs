//! Sorts rows. With a limit it keeps only those that can still be first; what does
//! not fit in memory goes to temporary files, where the client allows it.

use super::runs::{Merged, Runs};
use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::index::extract;
use crate::plan::SortField;
use crate::storage::{Document, Entry};
use bson::{RawBsonRef, RawDocument};
use budget::Kind;
use error::{Code, Error, Result};
use language::{Metadatum, interrupt};
use std::collections::BinaryHeap;
use std::sync::Arc;
use value::key::Key;
use value::{Collator, Path};

pub struct SortOperation {
    input: Running,
    fields: Arc<[SortField]>,
    limit: Option<u64>,
    /// Greatest on top, so that with a limit the row to drop is at hand.
    heap: BinaryHeap<KeyedRow>,
    runs: Runs,
    sorted: Option<Sorted>,
    arrived: u64,
    bytes: u64,
    /// What the heap takes of the budget.
    memory: budget::Held,
}

/// Rows in order.
enum Sorted {
    Memory(Kept),
    Runs(Merged),
}

pub struct KeyedRow {
    pub key: Vec<u8>,
    /// Rows with equal keys stay in the order they came.
    pub number: u64,
    pub member: Member,
}

impl KeyedRow {
    fn order(&self) -> (&[u8], u64) {
        (&self.key, self.number)
    }

    pub fn bytes(&self) -> u64 {
        let document = self.member.document.as_ref().map_or(0, |found| found.as_bytes().len());
        let entry = self.member.entry.as_ref().map_or(0, Entry::size_bytes);
        (self.key.len() + document + entry + size_of::<KeyedRow>()) as u64
    }
}

impl PartialEq for KeyedRow {
    fn eq(&self, other: &KeyedRow) -> bool {
        self.order() == other.order()
    }
}

impl Eq for KeyedRow {}

impl PartialOrd for KeyedRow {
    fn partial_cmp(&self, other: &KeyedRow) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeyedRow {
    fn cmp(&self, other: &KeyedRow) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl SortOperation {
    pub fn new(input: Running, fields: Arc<[SortField]>, limit: Option<u64>) -> SortOperation {
        SortOperation {
            input,
            fields,
            limit,
            heap: BinaryHeap::new(),
            runs: Runs::default(),
            sorted: None,
            arrived: 0,
            bytes: 0,
            memory: budget::Held::new(Kind::Work),
        }
    }

    fn add(&mut self, mut member: Member, shared: &Shared, stats: &mut Stats) -> Result<()> {
        if !keeps_entries(shared) {
            member.entry = None;
        }
        member.document = member.document.map(Document::uncounted);
        let key = match &member.document {
            Some(document) => sort_key(&self.fields, document, shared.query.collator.as_deref())?,
            None => Vec::new(),
        };
        let held = KeyedRow { key, number: self.arrived, member };
        self.arrived += 1;
        self.bytes += held.bytes();
        self.heap.push(held);
        if self.limit.is_some_and(|limit| self.heap.len() as u64 > limit)
            && let Some(dropped) = self.heap.pop()
        {
            self.bytes -= dropped.bytes();
        }
        stats.bytes_held = stats.bytes_held.max(self.bytes);
        match self.refusal(shared)? {
            Some(refusal) if !may_spill(shared) => Err(refusal),
            Some(_) => self.spill(stats),
            None => Ok(()),
        }
    }

    /// Why there is no room for what is held, if there is none.
    fn refusal(&mut self, shared: &Shared) -> Result<Option<Error>> {
        if self.bytes <= shared.query.sort_bytes_max {
            return self.memory.resize_or_spill(self.bytes as usize);
        }
        Ok(Some(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
            "Sort exceeded memory limit of {} bytes, but did not opt in to external sorting.",
            shared.query.sort_bytes_max
        ))))
    }

    /// Moves what is held to a file.
    fn spill(&mut self, stats: &mut Stats) -> Result<()> {
        let sorted = self.take_sorted()?;
        let written = self.runs.write(sorted)?;
        self.bytes = 0;
        self.memory.clear();
        stats.spills += 1;
        stats.spilled_bytes += written.bytes;
        stats.spilled_rows += written.rows;
        Ok(())
    }

    /// What is held, in order. It may be much, so that a time limit is looked at meanwhile.
    fn take_sorted(&mut self) -> Result<Vec<KeyedRow>> {
        interrupt::sort(std::mem::take(&mut self.heap).into_vec(), KeyedRow::cmp)
    }

    /// The rows in order, once all have come.
    fn finish(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Sorted> {
        // What is sorted may lie in a cursor for long.
        if self.memory.should_spill() && may_spill(shared) {
            self.spill(stats)?;
        }
        let memory = std::mem::replace(&mut self.memory, budget::Held::new(Kind::Work));
        let last = Kept { bytes: self.bytes, rows: self.take_sorted()?.into_iter(), memory };
        let runs = std::mem::take(&mut self.runs);
        Ok(match runs.is_empty() {
            true => Sorted::Memory(last),
            false => Sorted::Runs(runs.merge(last)?),
        })
    }
}

/// An index entry has no place in a file; only `returnKey` keeps one.
fn may_spill(shared: &Shared) -> bool {
    shared.query.allow_disk_use && !shared.query.return_key
}

/// Whether index entries are looked at once rows are sorted.
fn keeps_entries(shared: &Shared) -> bool {
    shared.query.return_key || shared.query.metadata.has(Metadatum::IndexKey)
}

/// Rows in memory, given out one after the other.
pub struct Kept {
    rows: std::vec::IntoIter<KeyedRow>,
    bytes: u64,
    memory: budget::Held,
}

impl Iterator for Kept {
    type Item = KeyedRow;

    fn next(&mut self) -> Option<KeyedRow> {
        let held = self.rows.next()?;
        self.bytes = self.bytes.saturating_sub(held.bytes());
        self.memory.force(self.bytes as usize);
        Some(held)
    }
}

impl Sorted {
    fn next(&mut self) -> Result<Option<Member>> {
        match self {
            Sorted::Memory(rows) => Ok(rows.next().map(|held| held.member)),
            Sorted::Runs(rows) => rows.next(),
        }
    }
}

impl Operator for SortOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        if let Some(sorted) = &mut self.sorted {
            return Ok(sorted.next()?.map_or(Work::Done, Work::Advanced));
        }
        match self.input.work(shared)? {
            Work::Advanced(member) => self.add(member, shared, stats)?,
            Work::Pending => {}
            Work::Done => self.sorted = Some(self.finish(shared, stats)?),
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
    let _entered = value::wide::enter(document);
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
