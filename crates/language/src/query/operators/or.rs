//! `$or`

use super::TopOperator;
use crate::query::{Node, parse};
use error::Result;
use value::Element;

pub const ROW: TopOperator = TopOperator { name: "$or", help: "At least one of these.", parse };

fn parse(element: Element<'_>, scope: &parse::Scope<'_>) -> Result<Node> {
    Ok(Node::or(parse::list(element, scope)?))
}
