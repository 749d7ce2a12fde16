//! `$expr`

use super::TopOperator;
use crate::aggregate::expressions::Expression;
use crate::query::{Node, parse::Scope};
use error::{Code, Result};
use value::Element;

pub const ROW: TopOperator =
    TopOperator { name: "$expr", help: "An aggregation expression that is true.", parse };

fn parse(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    if !scope.whole {
        let message = "$expr can only be applied to the top-level document";
        return Err(Code::BadValue.error(message));
    }
    let refused = "$expr is not allowed in this context";
    scope.expect_special(Code::QueryFeatureNotAllowed, refused)?;
    let expression = Expression::parse(element.value(), scope.context)?;
    Ok(Node::Expr(expression, value::value::to_owned(element.value())))
}
