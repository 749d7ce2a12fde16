//! The lengths of the arrays at one path that a policy names.

use super::event::{Lengthened, Lengths};
use super::turn::GroupRows;
use crate::storage::{CollectionId, RecordId};
use guard::policy::{ArrayRule, OnLimit};
use statistics::{Histogram, Largest, Place, read_number, write_number};
use value::Path;

#[derive(Debug, Clone)]
pub struct ArrayFigures {
    pub path: Path,
    /// Where documents count the elements, if the array overflows.
    count: Option<Path>,
    /// Documents that have such an array.
    pub documents: u64,
    /// The elements of all of them.
    pub elements: u64,
    /// Documents with pages, and their pages.
    pub overflowed: u64,
    pub pages: u64,
    /// Of every array, by its length.
    pub histogram: Histogram,
    /// Documents by their longest array.
    pub longest: Largest<()>,
    /// The figures as they were last written; empty once they have changed.
    written: Vec<u8>,
}

impl ArrayFigures {
    /// Of a collection that holds nothing.
    pub fn new(rule: &ArrayRule) -> ArrayFigures {
        ArrayFigures {
            path: rule.path.clone(),
            count: count(rule).cloned(),
            documents: 0,
            elements: 0,
            overflowed: 0,
            pages: 0,
            histogram: Histogram::default(),
            longest: Largest::default(),
            written: Vec::new(),
        }
    }

    /// Whether these are the figures of a rule: the same arrays, measured alike.
    pub fn is_of(&self, rule: &ArrayRule) -> bool {
        self.path == rule.path && self.count.as_ref() == count(rule)
    }

    /// Takes a change in.
    pub fn apply(
        &mut self,
        collection: CollectionId,
        record: RecordId,
        Lengthened { before, after, .. }: &Lengthened,
        turn: &mut GroupRows,
    ) {
        self.written.clear();
        self.exchange(before, after);
        let longest = |lengths: &Lengths| lengths.each.iter().max().copied();
        match self.longest.change(record.0, longest(before), longest(after)) {
            Place::Outside | Place::Stays => {}
            Place::Went => turn.remove(collection, self.path.as_str(), record.0),
            Place::Came => {
                turn.put(collection, self.path.as_str(), record.0, Vec::new());
                if self.longest.is_full() {
                    for gone in self.longest.trim() {
                        turn.remove(collection, self.path.as_str(), gone);
                    }
                }
            }
        }
    }

    fn exchange(&mut self, before: &Lengths, after: &Lengths) {
        match (&before.each[..], &after.each[..]) {
            // As nearly always: one array becomes longer or shorter.
            (&[before], &[after]) => self.histogram.exchange(before, after),
            (before, after) => {
                after.iter().for_each(|length| self.histogram.add(*length));
                before.iter().for_each(|length| self.histogram.remove(*length));
            }
        }
        let exchange = |total: &mut u64, measure: fn(&Lengths) -> u64| {
            *total = (*total + measure(after)).saturating_sub(measure(before));
        };
        exchange(&mut self.elements, |it| it.each.iter().map(|length| u64::from(*length)).sum());
        exchange(&mut self.documents, |it| u64::from(!it.each.is_empty()));
        exchange(&mut self.overflowed, |it| u64::from(it.pages > 0));
        exchange(&mut self.pages, |it| u64::from(it.pages));
    }

    /// Lets the smallest of the longest go if there are too many; false if some have gone.
    pub fn trim(&mut self) -> bool {
        // Their floor is written with the figures.
        self.written.clear();
        !self.longest.is_full() || self.longest.trim().is_empty()
    }

    /// Most writes leave the arrays as they are, and so their figures.
    pub fn write(&mut self, row: &mut Vec<u8>) {
        if self.written.is_empty() {
            let mut written = std::mem::take(&mut self.written);
            self.write_anew(&mut written);
            self.written = written;
        }
        row.extend_from_slice(&self.written);
    }

    fn write_anew(&self, row: &mut Vec<u8>) {
        for text in [self.path.as_str(), self.count.as_ref().map_or("", Path::as_str)] {
            write_number(text.len() as u64, row);
            row.extend_from_slice(text.as_bytes());
        }
        let floor = u64::from(self.longest.floor());
        for number in [self.documents, self.elements, self.overflowed, self.pages, floor] {
            write_number(number, row);
        }
        self.histogram.write(row);
    }

    /// Takes the figures of one path off the front of a row; `kept` gives those whose
    /// arrays are the longest.
    pub fn read(row: &mut &[u8], kept: impl FnOnce(&str) -> Vec<u64>) -> Option<ArrayFigures> {
        let path = text(row)?;
        let count = text(row)?;
        let mut number = || read_number(row);
        let (documents, elements) = (number()?, number()?);
        let (overflowed, pages) = (number()?, number()?);
        let floor = u32::try_from(number()?).ok()?;
        let longest = Largest::restore(floor, kept(path).into_iter().map(|id| (id, ())));
        Some(ArrayFigures {
            path: Path::new(path),
            count: (!count.is_empty()).then(|| Path::new(count)),
            documents,
            elements,
            overflowed,
            pages,
            histogram: Histogram::read(row)?,
            longest,
            written: Vec::new(),
        })
    }
}

/// Where documents count the elements of an array that overflows.
fn count(rule: &ArrayRule) -> Option<&Path> {
    match &rule.on_limit {
        OnLimit::Overflow(overflow) => overflow.count.as_ref(),
        _ => None,
    }
}

fn text<'a>(row: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(read_number(row)?).ok()?;
    let (text, rest) = row.split_at_checked(length)?;
    *row = rest;
    std::str::from_utf8(text).ok()
}
