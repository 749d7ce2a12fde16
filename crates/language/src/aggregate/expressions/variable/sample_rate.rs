//! `$sampleRate`: true with a given probability.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Number;

#[derive(Debug)]
struct SampleRate(f64);

pub fn parse(_: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let rate = coerce::number(Some(operand)).map(Number::to_f64);
    match rate {
        Some(rate) if (0.0..=1.0).contains(&rate) => Ok(Node::Special(Box::new(SampleRate(rate)))),
        _ => Err(Code::BadValue.error("numeric argument to $sampleRate must be in [0, 1]")),
    }
}

impl Special for SampleRate {
    fn evaluate<'a>(&'a self, _: &'a Scope<'a>) -> Evaluated<'a> {
        own(rand::random::<f64>() < self.0)
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
