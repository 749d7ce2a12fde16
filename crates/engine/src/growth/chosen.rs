//! Which documents of a collection a sample looks at.
//!
//! Documents are numbered as they come, so some are found by numbers taken at random. Where
//! many have been deleted, most numbers lead to the few documents behind them, and the way
//! there may be long: what has been deleted is still in the store for a while. So each gap is
//! walked once, and numbers are drawn again where documents may be.

use crate::plan::Interrupt;
use crate::storage::{CollectionId, RecordId, View};
use error::Result;
use rand::Rng as _;
use rand::seq::SliceRandom as _;
use rustc_hash::FxHashSet;
use std::ops::{Bound, Range};

/// Documents that are looked at; of a smaller collection, all.
const SAMPLE_DOCUMENTS: usize = 1_000;
/// How often numbers are drawn, while too few lead to a document of their own.
const ROUNDS_MAX: usize = 8;

/// Where documents are looked for.
pub struct Sampler<'a> {
    pub view: &'a View,
    pub collection: CollectionId,
    pub interrupt: &'a Interrupt,
}

impl Sampler<'_> {
    /// All documents of a small collection; of a large one some, taken at random and in no
    /// order, so that the first of them are a sample too.
    pub fn chosen(&self, documents: u64) -> Result<Vec<RecordId>> {
        let everywhere = (Bound::Unbounded, Bound::Unbounded);
        let all = || self.view.records(self.collection, everywhere);
        if documents <= SAMPLE_DOCUMENTS as u64 {
            return all().take(SAMPLE_DOCUMENTS).map(|record| Ok(record?.0)).collect();
        }
        let (Some(first), Some(last)) = (all().next(), all().next_back()) else {
            return Ok(Vec::new());
        };
        let mut spans: Vec<Range<u64>> = std::iter::once(first?.0.0..last?.0.0 + 1).collect();
        let mut found = FxHashSet::default();
        for _ in 0..ROUNDS_MAX {
            let gaps = self.probe(&spans, &mut found)?;
            if found.len() == SAMPLE_DOCUMENTS {
                break;
            }
            spans = without(&spans, &gaps);
        }
        let mut chosen: Vec<RecordId> = found.into_iter().collect();
        chosen.shuffle(&mut rand::rng());
        Ok(chosen)
    }

    /// Draws as many numbers as documents are missing, and adds those they lead to. Gives
    /// back, in order, where there are none.
    fn probe(
        &self,
        spans: &[Range<u64>],
        found: &mut FxHashSet<RecordId>,
    ) -> Result<Vec<Range<u64>>> {
        let mut gaps: Vec<Range<u64>> = Vec::new();
        let mut reached = 0;
        for place in drawn(spans, SAMPLE_DOCUMENTS - found.len()) {
            if place < reached {
                // It is in the gap before the document that was met last.
                continue;
            }
            self.interrupt.check()?;
            let from = (Bound::Included(RecordId(place)), Bound::Unbounded);
            let Some(next) = self.view.records(self.collection, from).next() else { break };
            let id = next?.0;
            found.insert(id);
            if id.0 > place {
                gaps.push(place..id.0);
            }
            reached = id.0 + 1;
        }
        Ok(gaps)
    }
}

/// Numbers out of these spans, in order.
fn drawn(spans: &[Range<u64>], count: usize) -> Vec<u64> {
    let total: u64 = spans.iter().map(|span| span.end - span.start).sum();
    if total == 0 {
        return Vec::new();
    }
    let mut random = rand::rng();
    let mut picked: Vec<u64> = (0..count).map(|_| random.random_range(0..total)).collect();
    picked.sort_unstable();
    let mut spans = spans.iter();
    let (mut span, mut before) = (spans.next(), 0);
    let place = |at: u64| {
        while let Some(here) = span {
            let length = here.end - here.start;
            if at < before + length {
                return Some(here.start + (at - before));
            }
            before += length;
            span = spans.next();
        }
        None
    };
    picked.into_iter().filter_map(place).collect()
}

/// What is left of spans without some gaps, both in order.
fn without(spans: &[Range<u64>], gaps: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    let mut gaps = gaps.iter().peekable();
    for span in spans {
        let mut start = span.start;
        while let Some(gap) = gaps.next_if(|gap| gap.start < span.end) {
            if gap.start > start {
                left.push(start..gap.start);
            }
            start = start.max(gap.end);
            if gap.end > span.end {
                break;
            }
        }
        if start < span.end {
            left.push(start..span.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_taken_out_of_spans() {
        let one = std::slice::from_ref(&(0..10));
        assert_eq!(without(one, &[2..4, 8..10]), [0..2, 4..8]);
        assert_eq!(without(one, &[]), one);
        let two = [0..10, 20..30];
        assert_eq!(without(&two, &[0..3, 22..24]), [3..10, 20..22, 24..30]);
        // What is left of a gap in the next span is found when it is met again.
        assert_eq!(without(&two, std::slice::from_ref(&(5..25))), [0..5, 20..30]);
    }

    #[test]
    fn numbers_are_drawn_where_documents_may_be() {
        let drawn = drawn(&[5..7, 100..1_100], 500);
        assert_eq!(drawn.len(), 500);
        assert!(drawn.is_sorted());
        assert!(drawn.iter().all(|at| (5..7).contains(at) || (100..1_100).contains(at)));
        assert!(super::drawn(&[], 5).is_empty());
    }
}
