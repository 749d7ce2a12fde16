//! What `$and` and `$or` share: the first operand of one truth decides the answer, and
//! those after it are not evaluated.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Scope, Special, coerce};
use bson::RawBson;
use error::Result;
use value::{Collator, Value};

#[derive(Debug)]
pub struct Decided {
    pub operands: Vec<Node>,
    /// The truth that decides; without it the answer is the other.
    pub by: bool,
}

impl Special for Decided {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        for node in &self.operands {
            if coerce::is_true(node.evaluate(scope)?.as_ref().map(Value::get)) == self.by {
                return own(self.by);
            }
        }
        own(!self.by)
    }

    fn operands(&self) -> Vec<&Node> {
        self.operands.iter().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.operands.iter_mut().collect()
    }

    fn conjuncts(&self) -> &[Node] {
        if self.by { &[] } else { &self.operands }
    }

    /// A constant that decides the answer makes the other operands moot, once all of
    /// them are folded.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for node in &mut self.operands {
            node.fold(collator)?;
        }
        let decides =
            |node: &Node| node.is_constant() && coerce::is_true(node.constant()) == self.by;
        let decided = self.operands.iter().any(decides);
        Ok(decided.then(|| Node::Constant(Some(RawBson::Boolean(self.by)))))
    }
}
