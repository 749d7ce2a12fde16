//! Whether a query can only match documents that a partial index holds.
//!
//! The test is sound and simple: every condition of the index's filter must follow
//! from a single condition of the query.

use super::bounds::{
    Conjunct, NodePlace, Target, Tightness, conjuncts, implies_exists, is_positional, translate,
};
use crate::catalog::IndexKind;
use bson::RawBson;
use bson::spec::ElementType;
use language::query::operators::Types;
use language::query::{Node, Predicate};
use rustc_hash::FxHashMap;
use value::{Collator, Path};

/// The types that compare as numbers.
const NUMBERS: &[ElementType] =
    &[ElementType::Double, ElementType::Int32, ElementType::Int64, ElementType::Decimal128];

/// How strings are compared in the query and in the index's filter.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a> {
    pub collator: Option<&'a Collator>,
    pub same_collation: bool,
}

/// Whether all of the query's conjuncts together imply the condition.
pub fn implies(query: &[Conjunct<'_>], condition: &Node, strings: Strings<'_>) -> bool {
    Given::of(query, strings).implies(condition)
}

/// The conjuncts of a query.
struct Given<'q> {
    /// What is asked of each path,
    fields: FxHashMap<&'q Path, Vec<&'q Predicate>>,
    /// and what else is asked.
    others: Vec<&'q Node>,
    strings: Strings<'q>,
}

impl<'q> Given<'q> {
    fn of(query: &[Conjunct<'q>], strings: Strings<'q>) -> Given<'q> {
        let mut given = Given { fields: FxHashMap::default(), others: Vec::new(), strings };
        for conjunct in query {
            match conjunct.node {
                Node::Field(path, predicate) => {
                    given.fields.entry(path).or_default().push(predicate);
                }
                node => given.others.push(node),
            }
        }
        given
    }

    fn implies(&self, condition: &Node) -> bool {
        match condition {
            Node::True => true,
            Node::And(conditions) => conditions.iter().all(|condition| self.implies(condition)),
            Node::Or(conditions) => {
                conditions.iter().any(|condition| self.implies(condition))
                    || self.by_branches(condition)
            }
            Node::Field(path, wanted) => {
                let given = self.fields.get(path).into_iter().flatten();
                given.into_iter().any(|given| follows(given, wanted, path, self.strings))
                    || self.by_branches(condition)
            }
            _ => false,
        }
    }

    fn by_branches(&self, condition: &Node) -> bool {
        self.others.iter().any(|node| every_branch(node, condition, self.strings))
    }
}

/// A disjunction implies what each of its branches implies.
fn every_branch(node: &Node, condition: &Node, strings: Strings<'_>) -> bool {
    match node {
        Node::Or(branches) => branches
            .iter()
            .all(|branch| implies(&conjuncts(branch, &NodePlace::default()), condition, strings)),
        _ => false,
    }
}

/// Whether a value that satisfies `given` satisfies `wanted`. Both speak of some
/// value at the path, so that this also holds for the elements of an array.
fn follows(given: &Predicate, wanted: &Predicate, path: &Path, strings: Strings<'_>) -> bool {
    if is_same(given, wanted, strings) {
        return true;
    }
    match wanted {
        Predicate::Exists(true) => return implies_exists(given, path.len() == 1),
        Predicate::Type(types) => return is_of(given, types),
        _ => {}
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

/// Whether both are the same condition. Strings are the same only under the same collation.
fn is_same(given: &Predicate, wanted: &Predicate, strings: Strings<'_>) -> bool {
    let equal = match (given, wanted) {
        (Predicate::Eq(given), Predicate::Eq(wanted))
        | (Predicate::Gt(given), Predicate::Gt(wanted))
        | (Predicate::Gte(given), Predicate::Gte(wanted))
        | (Predicate::Lt(given), Predicate::Lt(wanted))
        | (Predicate::Lte(given), Predicate::Lte(wanted)) => given == wanted,
        (Predicate::In(given), Predicate::In(wanted)) => {
            let plain = given.patterns.is_empty() && wanted.patterns.is_empty();
            plain && given.values == wanted.values
        }
        _ => false,
    };
    equal && strings.same_collation
}

/// Whether a value that satisfies `given` can only be of these types.
fn is_of(given: &Predicate, types: &Types) -> bool {
    match given {
        Predicate::Type(given) => {
            let numbers = if given.all_numbers { NUMBERS } else { &[] };
            given.kinds.iter().chain(numbers).all(|kind| types.contains(*kind))
        }
        Predicate::Eq(value)
        | Predicate::Gt(value)
        | Predicate::Gte(value)
        | Predicate::Lt(value)
        | Predicate::Lte(value) => compares_with(value, types),
        Predicate::In(list) => {
            list.patterns.is_empty() && list.values.iter().all(|value| compares_with(value, types))
        }
        _ => false,
    }
}

/// Whether only values of these types compare with a value.
fn compares_with(value: &RawBson, types: &Types) -> bool {
    let all = |kinds: &[ElementType]| kinds.iter().all(|kind| types.contains(*kind));
    match value.element_type() {
        // What is missing compares with null, and arrays by their elements.
        ElementType::Null | ElementType::Undefined | ElementType::Array => false,
        ElementType::MinKey | ElementType::MaxKey => false,
        kind if NUMBERS.contains(&kind) => all(NUMBERS),
        ElementType::String | ElementType::Symbol => {
            all(&[ElementType::String, ElementType::Symbol])
        }
        kind => all(&[kind]),
    }
}
