//! `$cond`: one of two values, by a condition.

use crate::aggregate::expressions::table::Arity;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::elements;
use value::{Collator, Value};

#[derive(Debug)]
struct Cond {
    condition: Node,
    then: Node,
    otherwise: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        let operands = parser.operands_of("$cond", Arity::Exactly(3), operand)?;
        let [condition, then, otherwise] = operands.try_into().unwrap_or_else(|_| {
            // Checked by the arity.
            [Node::null(), Node::null(), Node::null()]
        });
        return Ok(Node::Special(Box::new(Cond { condition, then, otherwise })));
    };
    let (mut condition, mut then, mut otherwise) = (None, None, None);
    for element in elements(document) {
        let slot = match element.key {
            "if" => &mut condition,
            "then" => &mut then,
            "else" => &mut otherwise,
            key => {
                return Err(
                    Code::location(17083).error(format!("Unrecognized parameter to $cond: {key}"))
                );
            }
        };
        *slot = Some(parser.operand(element.value())?);
    }
    let missing = |code, name: &str| {
        Code::location(code).error(format!("Missing '{name}' parameter to $cond"))
    };
    Ok(Node::Special(Box::new(Cond {
        condition: condition.ok_or_else(|| missing(17080, "if"))?,
        then: then.ok_or_else(|| missing(17081, "then"))?,
        otherwise: otherwise.ok_or_else(|| missing(17082, "else"))?,
    })))
}

impl Special for Cond {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let condition = self.condition.evaluate(scope)?;
        if coerce::is_true(condition.as_ref().map(Value::get)) {
            self.then.evaluate(scope)
        } else {
            self.otherwise.evaluate(scope)
        }
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.condition, &self.then, &self.otherwise]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.condition, &mut self.then, &mut self.otherwise]
    }

    /// Both branches are folded whatever the condition, as in MongoDB: a constant
    /// branch that fails is an error even if it is never taken.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if !self.condition.is_constant() {
            return Ok(None);
        }
        let holds = coerce::is_true(self.condition.constant());
        let branch = if holds { &mut self.then } else { &mut self.otherwise };
        Ok(Some(std::mem::replace(branch, Node::null())))
    }
}
