//! A set of values that are equal by comparison, not by bytes.

use super::super::operator::Held;
use crate::interrupt;
use bson::RawBsonRef;
use std::sync::Arc;
use value::order::compare_with;
use value::{Collator, Element};

/// The values of `$addToSet` or `$pullAll`: in the order given, without
/// repetition, found in logarithmic time.
#[derive(Debug)]
pub struct ValueSet {
    values: Vec<Held>,
    /// Places in `values`, in the order of comparison.
    sorted: Vec<usize>,
    collator: Option<Arc<Collator>>,
}

impl ValueSet {
    pub fn new<'a>(
        elements: impl Iterator<Item = Element<'a>>,
        collator: Option<Arc<Collator>>,
    ) -> ValueSet {
        let all: Vec<Held> = elements.map(Held::new).collect();
        let compare =
            |a: usize, b: usize| compare_with(all[a].value(), all[b].value(), collator.as_deref());
        let mut order: Vec<usize> = (0..all.len()).collect();
        // The sort is stable, so the first of equal values is the one given first.
        order.sort_by(interrupt::yielding(|a: &usize, b: &usize| compare(*a, *b)));
        order.dedup_by(|later, first| compare(*later, *first).is_eq());
        let mut kept = order.clone();
        kept.sort_unstable();
        let sorted = order.iter().filter_map(|at| kept.binary_search(at).ok()).collect();
        let values = kept.iter().map(|at| all[*at].clone()).collect();
        ValueSet { values, sorted, collator }
    }

    pub fn values(&self) -> &[Held] {
        &self.values
    }

    /// The place of the value that equals this one.
    pub fn find(&self, value: RawBsonRef<'_>) -> Option<usize> {
        let found = self.sorted.binary_search_by(|at| {
            compare_with(self.values[*at].value(), value, self.collator.as_deref())
        });
        found.ok().map(|at| self.sorted[at])
    }
}
