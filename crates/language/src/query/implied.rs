//! What a filter's `$expr` implies in the language of queries. `{$eq: ["$path", value]}`
//! holds only where `{path: value}` does; that is cheaper to look at, and may use an index.

use super::{Filter, Node};
use crate::aggregate::expressions::Node as Operand;
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

fn collect<'f>(node: &'f Node, found: &mut Vec<(&'f Path, RawBson)>) {
    match node {
        Node::And(nodes) => nodes.iter().for_each(|node| collect(node, found)),
        Node::Expr(expression, _) => conjuncts(&expression.node, found),
        _ => {}
    }
}

fn conjuncts<'f>(operand: &'f Operand, found: &mut Vec<(&'f Path, RawBson)>) {
    match operand {
        Operand::Special(special) => {
            special.conjuncts().iter().for_each(|operand| conjuncts(operand, found));
        }
        Operand::Call(call) if call.row.name == "$eq" => {
            if let [Some(a), Some(b)] = call.operands.as_slice() {
                found.extend(equality(a, b).or_else(|| equality(b, a)));
            }
        }
        _ => {}
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
    // To an expression an array is one value, and the path of a query goes through it.
    let plain =
        !matches!(value, RawBson::Array(_) | RawBson::RegularExpression(_) | RawBson::Undefined);
    plain.then_some((path.path(), value))
}

fn own(value: RawBsonRef<'_>) -> RawBson {
    value::value::to_owned(value)
}
