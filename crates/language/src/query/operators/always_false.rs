//! `$alwaysFalse`

use super::TopOperator;
use crate::query::{Node, parse::Scope};
use error::{Code, Result};
use value::{Element, Number};

pub const ROW: TopOperator = TopOperator { name: "$alwaysFalse", help: "No document.", parse };

fn parse(element: Element<'_>, _: &Scope<'_>) -> Result<Node> {
    match Number::from_value(element.value()).and_then(Number::to_i64_exact) {
        Some(1) => Ok(Node::False),
        _ => Err(Code::FailedToParse.error("$alwaysFalse must be an integer value of 1")),
    }
}
