//! `$percentile` and `$median` of the numbers of one document.

use crate::aggregate::accumulators::Accumulator;
use crate::aggregate::accumulators::percentile::{Method, Percentile, parts};
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special};
use bson::{RawBson, RawBsonRef};
use error::Result;
use std::sync::Arc;
use value::Value;
use value::element::array_elements;

#[derive(Debug)]
struct OfOne {
    input: Node,
    wanted: Arc<[f64]>,
    method: Method,
    median: bool,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    one("$percentile", parser, operand, false)
}

pub fn parse_median(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    one("$median", parser, operand, true)
}

fn one(name: &str, parser: &mut Parser<'_>, operand: RawBsonRef<'_>, median: bool) -> Result<Node> {
    let parts = parts(name, operand, parser.context, median)?;
    let input = parser.operand(parts.input)?;
    Ok(Node::Special(Box::new(OfOne { input, wanted: parts.wanted, method: parts.method, median })))
}

impl Special for OfOne {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let mut state = Percentile::new(self.wanted.clone(), self.method, self.median);
        match input.as_ref().map(Value::get) {
            Some(RawBsonRef::Array(array)) => {
                for element in array_elements(array) {
                    state.add(Some(element.value()), scope.root)?;
                }
            }
            value => state.add(value, scope.root)?,
        }
        own(state.value()?.unwrap_or(RawBson::Null))
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.input]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input]
    }
}
