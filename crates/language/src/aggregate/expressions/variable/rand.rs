//! `$rand`: a random double from 0 to 1, new for each document.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special};
use bson::RawBsonRef;
use error::{Code, Result};

#[derive(Debug)]
struct Rand;

pub fn parse(_: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    match operand {
        RawBsonRef::Document(document) if document.is_empty() => Ok(Node::Special(Box::new(Rand))),
        RawBsonRef::Array(array) if array.is_empty() => Ok(Node::Special(Box::new(Rand))),
        RawBsonRef::Document(_) | RawBsonRef::Array(_) => {
            Err(Code::location(3040501).error("$rand does not currently accept arguments"))
        }
        _ => Err(Code::location(10065).error("invalid parameter: expected an object ($rand)")),
    }
}

impl Special for Rand {
    fn evaluate<'a>(&'a self, _: &'a Scope<'a>) -> Evaluated<'a> {
        own(rand::random::<f64>())
    }

    fn operands(&self) -> Vec<&Node> {
        Vec::new()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        Vec::new()
    }

    fn is_pure(&self) -> bool {
        false
    }
}
