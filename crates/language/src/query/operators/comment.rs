//! `$comment`

use super::TopOperator;
use crate::query::{Node, parse::Scope};
use error::Result;
use value::Element;

pub const ROW: TopOperator =
    TopOperator { name: "$comment", help: "A note for readers of the filter.", parse };

fn parse(_: Element<'_>, _: &Scope<'_>) -> Result<Node> {
    Ok(Node::True)
}
