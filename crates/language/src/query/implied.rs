//! What a filter's `$expr` implies in the language of queries. `{$eq: ["$path", value]}`
//! holds only where `{path: value}` does; that is cheaper to look at, and may use an index.
//! So may the other comparisons, though queries have no words for them.

use super::operators::{Beyond, Side};
use super::{Filter, Node, Predicate};
use crate::aggregate::expressions::{Expression, Node as Operand};
use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use value::{DocumentWriter, Path};

impl Filter {
    /// A filter of equalities that every match satisfies, with the values that variables
    /// have now; `None` where nothing is implied.
    pub fn implied(&self) -> Option<RawDocumentBuf> {
        let mut found = Vec::new();
        collect(&self.root, &mut found);
        if found.is_empty() {
            return None;
        }
        let mut filter = DocumentWriter::new();
        filter.begin_array("$and");
        for (path, value) in &found {
            filter.begin_next_document();
            filter.begin_document(path.as_str());
            filter.append("$eq", value.as_raw_bson_ref());
            filter.end();
            filter.end();
        }
        filter.end();
        Some(filter.finish())
    }
}

/// What an expression that must be true asks of single fields, compared with constants.
pub fn predicates(expression: &Expression) -> Vec<(Path, Predicate)> {
    let mut found = Vec::new();
    each_conjunct(&expression.node, &mut |conjunct| found.extend(predicate(conjunct)));
    found
}

fn predicate(operand: &Operand) -> Option<(Path, Predicate)> {
    let Operand::Call(call) = operand else { return None };
    let [Some(a), Some(b)] = call.operands.as_slice() else { return None };
    let (path, value, reversed) = match (a, b) {
        (Operand::Field(path), Operand::Constant(Some(value))) => (path, value, false),
        (Operand::Constant(Some(value)), Operand::Field(path)) => (path, value, true),
        _ => return None,
    };
    let value = own(value.as_raw_bson_ref());
    let (side, inclusive) = match call.row.name {
        "$eq" => return is_plain(&value).then(|| (path.path().clone(), Predicate::Eq(value))),
        "$gt" => (Side::Above, false),
        "$gte" => (Side::Above, true),
        "$lt" => (Side::Below, false),
        "$lte" => (Side::Below, true),
        _ => return None,
    };
    let side = match (side, reversed) {
        (side, false) => side,
        (Side::Above, true) => Side::Below,
        (Side::Below, true) => Side::Above,
    };
    is_ordered(&value)
        .then(|| (path.path().clone(), Predicate::Beyond(Beyond { side, inclusive, value })))
}

/// Whether the values on one side of this one have their keys on the same side.
fn is_ordered(value: &RawBson) -> bool {
    matches!(
        value,
        RawBson::Double(_)
            | RawBson::String(_)
            | RawBson::Binary(_)
            | RawBson::ObjectId(_)
            | RawBson::Boolean(_)
            | RawBson::DateTime(_)
            | RawBson::Int32(_)
            | RawBson::Timestamp(_)
            | RawBson::Int64(_)
            | RawBson::Decimal128(_)
    )
}

fn collect<'f>(node: &'f Node, found: &mut Vec<(&'f Path, RawBson)>) {
    match node {
        Node::And(nodes) => nodes.iter().for_each(|node| collect(node, found)),
        Node::Expr(expr) => each_conjunct(&expr.expression.node, &mut |conjunct| {
            if let Operand::Call(call) = conjunct
                && call.row.name == "$eq"
                && let [Some(a), Some(b)] = call.operands.as_slice()
            {
                found.extend(equality(a, b).or_else(|| equality(b, a)));
            }
        }),
        _ => {}
    }
}

/// The parts of an expression that must all be true.
fn each_conjunct<'f>(operand: &'f Operand, see: &mut dyn FnMut(&'f Operand)) {
    match operand {
        Operand::Special(special) => {
            special.conjuncts().iter().for_each(|operand| each_conjunct(operand, see));
        }
        operand => see(operand),
    }
}

/// A path and a value that must be equal.
fn equality<'f>(path: &'f Operand, value: &Operand) -> Option<(&'f Path, RawBson)> {
    let Operand::Field(path) = path else { return None };
    let value = match value {
        Operand::Constant(value) => value.as_ref().map(|value| own(value.as_raw_bson_ref())),
        Operand::Bound { binding, path: None } => {
            binding.get().map(|value| own(value.as_raw_bson_ref()))
        }
        _ => None,
    }?;
    is_plain(&value).then_some((path.path(), value))
}

/// Whether a query means the same by this value: to an expression an array is one value,
/// and the path of a query goes through it.
fn is_plain(value: &RawBson) -> bool {
    !matches!(value, RawBson::Array(_) | RawBson::RegularExpression(_) | RawBson::Undefined)
}

fn own(value: RawBsonRef<'_>) -> RawBson {
    value::value::to_owned(value)
}
