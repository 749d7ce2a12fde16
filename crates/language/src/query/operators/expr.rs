//! `$expr`

use super::TopOperator;
use crate::aggregate::expressions::Expression;
use crate::query::{Node, Predicate, implied, parse::Scope};
use bson::RawBson;
use error::{Code, Result};
use std::sync::Arc;
use value::{Element, Path};

pub const ROW: TopOperator =
    TopOperator { name: "$expr", help: "An aggregation expression that is true.", parse };

#[derive(Debug)]
pub struct Expr {
    pub expression: Expression,
    /// What it was parsed from.
    pub source: RawBson,
    /// Predicates that hold for some key of every document for which the expression is
    /// true, where the field is indexed: the planner narrows a scan with them.
    pub implied: Vec<(Path, Predicate)>,
}

/// A comparison as expressions have it: values of every type compare, and a missing
/// field is less than all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Beyond {
    pub side: Side,
    pub inclusive: bool,
    pub value: RawBson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Above,
    Below,
}

fn parse(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    if !scope.whole {
        let message = "$expr can only be applied to the top-level document";
        return Err(Code::BadValue.error(message));
    }
    let refused = "$expr is not allowed in this context";
    scope.expect_special(Code::QueryFeatureNotAllowed, refused)?;
    let expression = match scope.deferred {
        true => Expression::parse_deferred(element.value(), scope.context)?,
        false => Expression::parse(element.value(), scope.context)?,
    };
    let implied = implied::predicates(&expression);
    let source = value::value::to_owned(element.value());
    Ok(Node::Expr(Arc::new(Expr { expression, source, implied })))
}
