//! Many equalities on one path, asked together: a long array is walked over once for all of
//! them, not once for each.

use super::operators::comparison::{Comparison, compare};
use super::traverse::{self, Leaf, Route};
use super::{Node, Predicate};
use crate::interrupt;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use value::order::compare_with;
use value::{Collator, Element, Path, elements};

/// Where a document satisfies an equality: the array index that the positional `$` stands
/// for, if there is one.
pub type Position = Option<usize>;

/// The equalities among some nodes, by path, and the nodes that are none. Each is known by
/// its place among the nodes.
pub struct Together<'n> {
    equalities: Vec<Equalities<'n>>,
    pub others: Vec<(usize, &'n Node)>,
}

/// The operands that the values at one path are compared with.
struct Equalities<'n> {
    path: &'n Path,
    /// In order. Several may be equal.
    operands: Vec<(usize, &'n RawBson)>,
}

impl<'n> Together<'n> {
    pub fn of(nodes: Vec<&'n Node>, collator: Option<&Collator>) -> Result<Together<'n>> {
        let mut by_path: FxHashMap<&Path, Vec<(usize, &RawBson)>> = FxHashMap::default();
        let mut others = Vec::new();
        for (at, node) in nodes.into_iter().enumerate() {
            interrupt::check()?;
            match node {
                Node::Field(path, Predicate::Eq(operand)) => {
                    by_path.entry(path).or_default().push((at, operand));
                }
                node => others.push((at, node)),
            }
        }
        let mut equalities = Vec::with_capacity(by_path.len());
        for (path, operands) in by_path {
            let operands = interrupt::sort(operands, |(_, a), (_, b)| {
                compare_with(a.as_raw_bson_ref(), b.as_raw_bson_ref(), collator)
            })?;
            equalities.push(Equalities { path, operands });
        }
        Ok(Together { equalities, others })
    }

    /// Calls `found` once for each equality that the document satisfies.
    pub fn satisfied(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
        mut found: impl FnMut(usize, Position),
    ) -> Result<()> {
        for equalities in &self.equalities {
            equalities.satisfied(document, collator, &mut found)?;
        }
        Ok(())
    }

    pub fn equalities(&self) -> usize {
        self.equalities.iter().map(|one| one.operands.len()).sum()
    }
}

impl Equalities<'_> {
    fn satisfied(
        &self,
        document: &RawDocument,
        collator: Option<&Collator>,
        found: &mut impl FnMut(usize, Position),
    ) -> Result<()> {
        let mut left = self.operands.len();
        let mut is_found = vec![false; left];
        let mut visit = |element: Option<Element<'_>>, position: Position| {
            interrupt::check()?;
            for at in self.equal(element, collator) {
                let (number, operand) = self.operands[at];
                if !is_found[at] && compare(Comparison::Eq, element, operand, collator) {
                    is_found[at] = true;
                    left -= 1;
                    found(number, position);
                }
            }
            Ok(left == 0)
        };
        let route = Route::new(self.path, Leaf::Each);
        traverse::document(elements(document), route, &mut visit)?;
        Ok(())
    }

    /// The operands that a value may be equal to; a missing one is equal to null.
    fn equal(
        &self,
        element: Option<Element<'_>>,
        collator: Option<&Collator>,
    ) -> std::ops::Range<usize> {
        let value = element.map_or(RawBsonRef::Null, |element| element.value());
        let order = |operand: &RawBson| compare_with(operand.as_raw_bson_ref(), value, collator);
        let first = self.operands.partition_point(|(_, one)| order(one) == Ordering::Less);
        let count =
            self.operands[first..].partition_point(|(_, one)| order(one) == Ordering::Equal);
        first..first + count
    }
}
