//! `$and`: whether every operand is true; those after it is known are not
//! evaluated.

use super::Node;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Parser, Scope, Special, coerce};
use bson::{RawBson, RawBsonRef};
use error::Result;
use value::{Collator, Value};

#[derive(Debug)]
struct And(Vec<Node>);

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    Ok(Node::Special(Box::new(And(parser.operands(operand)?))))
}

impl Special for And {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        for node in &self.0 {
            if !coerce::is_true(node.evaluate(scope)?.as_ref().map(Value::get)) {
                return own(false);
            }
        }
        own(true)
    }

    fn operands(&self) -> Vec<&Node> {
        self.0.iter().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.0.iter_mut().collect()
    }

    /// A constant that decides the answer makes the other operands moot, once all of
    /// them are folded.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for node in &mut self.0 {
            node.fold(collator)?;
        }
        for node in &self.0 {
            if node.is_constant() && !coerce::is_true(node.constant()) {
                return Ok(Some(Node::Constant(Some(RawBson::Boolean(false)))));
            }
        }
        Ok(None)
    }
}
