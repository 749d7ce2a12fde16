//! `$or`: whether any operand is true.

use super::decided::Decided;
use crate::aggregate::expressions::{Node, Parser};
use bson::RawBsonRef;
use error::Result;

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let operands = parser.operands(operand)?;
    Ok(Node::Special(Box::new(Decided { operands, by: true })))
}
