//! `$sort`: keeps only the top where a limit follows; spills to temporary files
//! where the documents do not fit in memory.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::limits::SORT_MEMORY_BYTES_MAX;
use crate::metadata::{self, Asked, Metadatum};
use crate::sort::Pattern;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::key::Key;
use value::{Collator, Path};

#[derive(Debug)]
pub struct Sort {
    pub pattern: Pattern,
    /// How many of the sorted documents are used.
    pub limit: Option<u64>,
    collator: Option<Arc<Collator>>,
    /// The metadata that the pipeline asks for, a sort key perhaps.
    asked: Arc<Asked>,
    pub(super) memory_bytes_max: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(pattern) = stage.value else {
        return Err(Code::location(15973).error("the $sort key specification must be an object"));
    };
    let mut sort = Sort::new(Pattern::parse(pattern)?, stage.context.collator.clone());
    sort.asked = stage.context.asked.clone();
    one(sort)
}

impl Sort {
    pub fn new(pattern: Pattern, collator: Option<Arc<Collator>>) -> Sort {
        let asked = Arc::default();
        Sort { pattern, limit: None, collator, asked, memory_bytes_max: SORT_MEMORY_BYTES_MAX }
    }

    fn item(&self, document: RawDocumentBuf, order: u64) -> Result<Item> {
        let mut key = Key::default();
        self.pattern.key(&document, self.collator.as_deref(), &mut key)?;
        Ok(Item { key: key.bytes, order, document })
    }

    /// The document with the key that it was sorted by, in place of any other.
    fn keyed(&self, document: &RawDocument) -> RawDocumentBuf {
        let key = self.pattern.values(document, self.collator.as_deref());
        let others = metadata::without(document, Metadatum::SortKey);
        metadata::attach(&others, [(Metadatum::SortKey, RawBsonRef::Array(&key))])
    }

    fn sort(self: Arc<Self>, input: Documents, foreign: &dyn Foreign) -> Result<Documents> {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        let mut runs = Vec::new();
        let mut held = Held::new(limit);
        for (order, document) in input.enumerate() {
            held.push(self.item(document?, order as u64)?);
            if held.bytes > self.memory_bytes_max {
                runs.push(spill(std::mem::replace(&mut held, Held::new(limit)), foreign)?);
            }
        }
        let last: Documents = Box::new(held.sorted().into_iter().map(|item| Ok(item.document)));
        if runs.is_empty() {
            return Ok(last);
        }
        runs.push(last);
        let merged = Merge::new(self, runs)?;
        Ok(Box::new(merged.take(limit.unwrap_or(usize::MAX))))
    }
}

fn spill(held: Held, foreign: &dyn Foreign) -> Result<Documents> {
    let Some(mut run) = foreign.spill()? else {
        return Err(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
            "Sort exceeded memory limit of {SORT_MEMORY_BYTES_MAX} bytes, but did not opt in to external sorting."
        )));
    };
    for item in held.sorted() {
        run.push(&item.document)?;
    }
    run.finish()
}

/// A document with its key; equal keys keep the order of the input.
#[derive(Debug)]
struct Item {
    key: Vec<u8>,
    order: u64,
    document: RawDocumentBuf,
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

    fn sorted(mut self) -> Vec<Item> {
        if self.limit.is_some() {
            return self.top.into_sorted_vec();
        }
        self.all.sort_unstable();
        self.all
    }
}

/// Sorted runs, merged.
struct Merge {
    sort: Arc<Sort>,
    runs: Vec<Documents>,
    /// The least first; `order` is the run's number.
    heads: BinaryHeap<std::cmp::Reverse<Item>>,
}

impl Merge {
    fn new(sort: Arc<Sort>, runs: Vec<Documents>) -> Result<Merge> {
        let mut merge = Merge { sort, runs, heads: BinaryHeap::new() };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> Result<()> {
        if let Some(document) = self.runs[run].next() {
            self.heads.push(std::cmp::Reverse(self.sort.item(document?, run as u64)?));
        }
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        let std::cmp::Reverse(item) = self.heads.pop()?;
        Some(self.advance(item.order as usize).map(|()| item.document))
    }
}

impl Stage for Sort {
    fn name(&self) -> &'static str {
        "$sort"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let sorted = self.clone().sort(input, &**foreign)?;
        match self.asked.wanted().has(Metadatum::SortKey) {
            true => Ok(Box::new(sorted.map(move |document| Ok(self.keyed(&document?))))),
            false => Ok(sorted),
        }
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.pattern.needs(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(Vec::new())
    }
}
