//! `$ifNull`: the first operand that is not null or missing, else the last.

use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Value;

#[derive(Debug)]
struct IfNull {
    candidates: Vec<Node>,
    last: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let mut candidates = parser.operands(operand)?;
    match candidates.pop() {
        Some(last) if !candidates.is_empty() => {
            Ok(Node::Special(Box::new(IfNull { candidates, last })))
        }
        last => Err(Code::location(1257300).error(format!(
            "$ifNull needs at least two arguments, had: {}",
            usize::from(last.is_some())
        ))),
    }
}

impl Special for IfNull {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        for node in &self.candidates {
            let value = node.evaluate(scope)?;
            if !coerce::is_nullish(value.as_ref().map(Value::get)) {
                return Ok(value);
            }
        }
        self.last.evaluate(scope)
    }

    fn is_one_of_its_operands(&self) -> bool {
        true
    }

    fn operands(&self) -> Vec<&Node> {
        self.candidates.iter().chain([&self.last]).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.candidates.iter_mut().chain([&mut self.last]).collect()
    }
}
