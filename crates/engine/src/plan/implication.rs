//! Whether a query can only match documents that a partial index holds.
//!
//! The test is sound and simple: every condition of the index's filter must follow
//! from a single condition of the query.

use super::bounds::{
    Conjunct, Place, Target, Tightness, conjuncts, implies_exists, is_positional, translate,
};
use crate::catalog::IndexKind;
use language::query::{Node, Predicate};
use value::{Collator, Path};

/// How strings are compared in the query and in the index's filter.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a> {
    pub collator: Option<&'a Collator>,
    pub same_collation: bool,
}

/// Whether all of the query's conjuncts together imply the condition.
pub fn implies(query: &[Conjunct<'_>], condition: &Node, strings: Strings<'_>) -> bool {
    match condition {
        Node::True => true,
        Node::And(conditions) => {
            conditions.iter().all(|condition| implies(query, condition, strings))
        }
        Node::Or(conditions) => {
            conditions.iter().any(|condition| implies(query, condition, strings))
                || query.iter().any(|given| every_branch(given.node, condition, strings))
        }
        Node::Field(path, predicate) => query.iter().any(|given| match given.node {
            Node::Field(of, given) => of == path && follows(given, predicate, path, strings),
            node => every_branch(node, condition, strings),
        }),
        _ => false,
    }
}

/// A disjunction implies what each of its branches implies.
fn every_branch(node: &Node, condition: &Node, strings: Strings<'_>) -> bool {
    match node {
        Node::Or(branches) => branches
            .iter()
            .all(|branch| implies(&conjuncts(branch, &Place::default()), condition, strings)),
        _ => false,
    }
}

/// Whether a value that satisfies `given` satisfies `wanted`. Both speak of some
/// value at the path, so that this also holds for the elements of an array.
fn follows(given: &Predicate, wanted: &Predicate, path: &Path, strings: Strings<'_>) -> bool {
    if matches!(wanted, Predicate::Exists(true)) {
        return implies_exists(given, path.len() == 1);
    }
    let target = Target {
        kind: IndexKind::Ascending,
        collator: strings.collator,
        same_collation: strings.same_collation,
        multikey: true,
        present: false,
        positional: is_positional(path),
    };
    // A negation speaks of all values at the path, not of one.
    if matches!(given, Predicate::Not(_)) || matches!(wanted, Predicate::Not(_)) {
        return false;
    }
    let (Some(given), Some(wanted)) = (translate(given, target), translate(wanted, target)) else {
        return false;
    };
    wanted.tightness == Tightness::Exact
        && !wanted.intervals.is_all()
        && given.tightness != Tightness::Document
        && given.intervals.within(&wanted.intervals)
}
