//! `$nor`

use super::TopOperator;
use crate::query::{Node, parse};
use error::Result;
use value::Element;

pub const ROW: TopOperator = TopOperator { name: "$nor", help: "None of these.", parse };

fn parse(element: Element<'_>, scope: &parse::Scope<'_>) -> Result<Node> {
    Ok(Node::Nor(parse::list(element, scope)?))
}
