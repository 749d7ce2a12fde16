//! `$setEquals`: whether sets have the same elements.

use super::{sorted, wrong};
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special};
use bson::RawBsonRef;
use error::{Code, Result};
use value::{Collator, Value};

#[derive(Debug)]
struct Equals(Vec<Node>);

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let operands = parser.operands(operand)?;
    if operands.len() < 2 {
        return Err(Code::location(17045)
            .error(format!("$setEquals needs at least two arguments had: {}", operands.len())));
    }
    Ok(Node::Special(Box::new(Equals(operands))))
}

impl Special for Equals {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let mut first: Option<Value<'a>> = None;
        for node in &self.0 {
            let value = node.evaluate(scope)?;
            let array = match value.as_ref().map(Value::get) {
                Some(RawBsonRef::Array(array)) => array,
                other => return Err(wrong("$setEquals", other, 17044)),
            };
            let Some(before) = &first else {
                first = value;
                continue;
            };
            if let RawBsonRef::Array(before) = before.get() {
                let (a, b) =
                    (sorted(before, scope.collator)?.values, sorted(array, scope.collator)?.values);
                let same = a.len() == b.len()
                    && a.iter()
                        .zip(&b)
                        .all(|(a, b)| value::order::compare_with(*a, *b, scope.collator).is_eq());
                if !same {
                    return own(false);
                }
            }
        }
        own(true)
    }

    /// A constant that is no array is found before any document is read, with a code
    /// of its own.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for node in &mut self.0 {
            node.fold(collator)?;
            if node.is_constant() && !matches!(node.constant(), Some(RawBsonRef::Array(_))) {
                return Err(wrong("$setEquals", node.constant(), 5887502));
            }
        }
        Ok(None)
    }

    fn operands(&self) -> Vec<&Node> {
        self.0.iter().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.0.iter_mut().collect()
    }
}
