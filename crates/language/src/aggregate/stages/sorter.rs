//! Documents sorted by keys of bytes. Those that do not fit in a stage's memory go to
//! temporary files, sorted, and are merged.

use super::{Documents, Foreign};
use crate::interrupt;
use bson::spec::BinarySubtype;
use bson::{RawBinaryRef, RawBsonRef, RawDocumentBuf};
use budget::Kind;
use error::{Code, Error, Result};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;
use value::DocumentWriter;
use value::element::get_value;

/// Takes documents in, in any order.
pub struct Sorter {
    /// Who sorts, for its errors.
    name: &'static str,
    memory_bytes_max: usize,
    foreign: Arc<dyn Foreign>,
    held: Held,
    /// What is held takes so much of the budget.
    memory: budget::Held,
    runs: Vec<Documents>,
    /// How many were taken in.
    taken: u64,
}

/// A document with its key; equal keys keep the order of the input.
#[derive(Debug)]
pub struct Item {
    pub key: Vec<u8>,
    order: u64,
    pub document: RawDocumentBuf,
}

/// Items in order.
pub type Sorted = Box<dyn Iterator<Item = Result<Item>> + Send>;

impl Sorter {
    pub fn new(name: &'static str, memory_bytes_max: usize, foreign: Arc<dyn Foreign>) -> Sorter {
        let held = Held::new(None);
        let memory = budget::Held::new(Kind::Work);
        Sorter { name, memory_bytes_max, foreign, held, memory, runs: Vec::new(), taken: 0 }
    }

    /// Keeps only the first so many.
    pub fn limited(self, limit: Option<usize>) -> Sorter {
        Sorter { held: Held::new(limit), ..self }
    }

    pub fn push(&mut self, key: Vec<u8>, document: RawDocumentBuf) -> Result<()> {
        interrupt::check_sized(key.len() + document.as_bytes().len())?;
        self.held.push(Item { key, order: self.taken, document });
        self.taken += 1;
        match self.refusal()? {
            Some(refusal) => self.spill(Some(refusal)),
            None => Ok(()),
        }
    }

    /// Why there is no room for what is held, if there is none.
    fn refusal(&mut self) -> Result<Option<Error>> {
        if self.held.bytes <= self.memory_bytes_max {
            return self.memory.resize_or_spill(self.held.bytes);
        }
        Ok(Some(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
            "{} exceeded memory limit of {} bytes, but did not opt in to external sorting.",
            self.name, self.memory_bytes_max
        ))))
    }

    pub fn finish(mut self) -> Result<Sorted> {
        let limit = self.held.limit.unwrap_or(usize::MAX);
        // What is sorted may lie in a cursor for long.
        if self.memory.should_spill() {
            self.spill(None)?;
        }
        let bytes = self.held.bytes;
        let rows = self.held.sorted()?.into_iter();
        let last: Sorted = Box::new(Kept { rows, bytes, memory: self.memory });
        if self.runs.is_empty() {
            return Ok(last);
        }
        let decode = |run: Documents| -> Sorted { Box::new(run.map(|row| decode(&row?))) };
        let runs = self.runs.into_iter().map(decode).chain([last]).collect();
        Ok(Box::new(Merge::new(runs)?.take(limit)))
    }

    /// Moves what is held to a file. Where there may be none, it stays, or the sort is refused.
    fn spill(&mut self, refusal: Option<Error>) -> Result<()> {
        let Some(mut run) = self.foreign.spill()? else { return refusal.map_or(Ok(()), Err) };
        let limit = self.held.limit;
        for item in std::mem::replace(&mut self.held, Held::new(limit)).sorted()? {
            run.push(&encode(&item))?;
        }
        self.runs.push(run.finish()?.read());
        self.memory.clear();
        Ok(())
    }
}

/// Items in memory, given out one after the other.
struct Kept {
    rows: std::vec::IntoIter<Item>,
    bytes: usize,
    memory: budget::Held,
}

impl Iterator for Kept {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.rows.next()?;
        self.bytes = self.bytes.saturating_sub(item.bytes());
        self.memory.force(self.bytes);
        Some(Ok(item))
    }
}

fn encode(item: &Item) -> RawDocumentBuf {
    let room = item.key.len() + item.document.as_bytes().len() + 32;
    let mut row = DocumentWriter::with_capacity(room);
    let key = RawBinaryRef { subtype: BinarySubtype::Generic, bytes: &item.key };
    row.append("key", RawBsonRef::Binary(key));
    row.append("document", RawBsonRef::Document(&item.document));
    row.finish()
}

fn decode(row: &RawDocumentBuf) -> Result<Item> {
    match (get_value(row, "key"), get_value(row, "document")) {
        (Some(RawBsonRef::Binary(key)), Some(RawBsonRef::Document(document))) => {
            Ok(Item { key: key.bytes.to_vec(), order: 0, document: document.to_owned() })
        }
        _ => {
            Err(Code::InternalError.error("a temporary file holds something else than was put in"))
        }
    }
}

impl Item {
    fn bytes(&self) -> usize {
        self.key.len() + self.document.as_bytes().len() + size_of::<Item>()
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Item {}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.order.cmp(&other.order))
    }
}

/// Documents in memory: all, or the first of them where a limit is known.
#[derive(Debug)]
struct Held {
    limit: Option<usize>,
    /// The greatest on top, to be dropped first.
    top: BinaryHeap<Item>,
    all: Vec<Item>,
    bytes: usize,
}

impl Held {
    fn new(limit: Option<usize>) -> Held {
        Held { limit, top: BinaryHeap::new(), all: Vec::new(), bytes: 0 }
    }

    fn push(&mut self, item: Item) {
        let Some(limit) = self.limit else {
            self.bytes += item.bytes();
            self.all.push(item);
            return;
        };
        if self.top.len() >= limit && self.top.peek().is_none_or(|greatest| item >= *greatest) {
            return;
        }
        self.bytes += item.bytes();
        self.top.push(item);
        if self.top.len() > limit
            && let Some(dropped) = self.top.pop()
        {
            self.bytes -= dropped.bytes();
        }
    }

    fn sorted(self) -> Result<Vec<Item>> {
        match self.limit {
            Some(_) => interrupt::sort(self.top.into_vec(), Item::cmp),
            None => interrupt::sort(self.all, Item::cmp),
        }
    }
}

/// Sorted runs, merged.
struct Merge {
    runs: Vec<Sorted>,
    /// The least first; `order` is the run's number.
    heads: BinaryHeap<Reverse<Item>>,
    bytes: usize,
    memory: budget::Held,
}

impl Merge {
    fn new(runs: Vec<Sorted>) -> Result<Merge> {
        let memory = budget::Held::new(Kind::Work);
        let mut merge = Merge { runs, heads: BinaryHeap::new(), bytes: 0, memory };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> Result<()> {
        if let Some(item) = self.runs[run].next() {
            let item = Item { order: run as u64, ..item? };
            self.bytes += item.bytes();
            self.heads.push(Reverse(item));
        }
        self.memory.resize(self.bytes)
    }
}

impl Iterator for Merge {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse(item) = self.heads.pop()?;
        self.bytes -= item.bytes();
        Some(self.advance(item.order as usize).map(|()| item))
    }
}
