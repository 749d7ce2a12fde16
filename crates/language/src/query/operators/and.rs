//! `$and`

use super::TopOperator;
use crate::query::{Node, parse};
use error::Result;
use value::Element;

pub const ROW: TopOperator = TopOperator { name: "$and", help: "All of these.", parse };

fn parse(element: Element<'_>, scope: &parse::Scope<'_>) -> Result<Node> {
    Ok(Node::and(parse::list(element, scope)?))
}
