//! Operators that are known and not supported, each with its reason.

use super::{Argument, FieldOperator, TopOperator};
use crate::query::parse::Scope;
use crate::query::{Node, Predicate};
use error::{Code, Result};
use value::Element;

pub const GEO_INTERSECTS: FieldOperator =
    FieldOperator { name: "$geoIntersects", help: "Refused: no geospatial queries.", parse: geo };
pub const GEO_WITHIN: FieldOperator =
    FieldOperator { name: "$geoWithin", help: "Refused: no geospatial queries.", parse: geo };
pub const NEAR: FieldOperator =
    FieldOperator { name: "$near", help: "Refused: no geospatial queries.", parse: near };
pub const NEAR_SPHERE: FieldOperator =
    FieldOperator { name: "$nearSphere", help: "Refused: no geospatial queries.", parse: near };
pub const WITHIN: FieldOperator =
    FieldOperator { name: "$within", help: "Refused: no geospatial queries.", parse: geo };
pub const TEXT: TopOperator =
    TopOperator { name: "$text", help: "Refused: no text search.", parse: text };
pub const WHERE: TopOperator =
    TopOperator { name: "$where", help: "Refused: no server-side JavaScript.", parse: javascript };

fn geo(argument: &Argument<'_>) -> Result<Predicate> {
    let name = argument.element.key;
    Err(Code::NotImplemented.error(format!("{name} is not supported: no geospatial queries")))
}

/// MongoDB's answer where there is no geospatial index, and here there is none. Clients look
/// for the field in it.
fn near(argument: &Argument<'_>) -> Result<Predicate> {
    let name = argument.element.key;
    let refused = "$geoNear, $near, and $nearSphere are not allowed in this context";
    argument.scope.expect_prepared(Code::location(5_626_500), refused)?;
    let message = format!(
        "error processing query: Tree: GEONEAR  field={} : planner returned error :: caused by :: \
         unable to find index for $geoNear query: {name} is not supported",
        argument.field
    );
    Err(Code::NoQueryExecutionPlans.error(message))
}

/// MongoDB's answer where there is no text index, and here there is none.
fn text(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    expect_whole(element, scope)?;
    scope.expect_prepared(Code::BadValue, "$text is not allowed in this context")?;
    let message = "text index required for $text query: text search is not supported";
    Err(Code::IndexNotFound.error(message))
}

fn javascript(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    scope.expect_prepared(Code::BadValue, "$where is not allowed in this context")?;
    expect_whole(element, scope)?;
    let message = "$where is not supported: there is no server-side JavaScript. Use $expr instead";
    Err(Code::BadValue.error(message))
}

fn expect_whole(element: Element<'_>, scope: &Scope<'_>) -> Result<()> {
    if scope.whole {
        return Ok(());
    }
    let name = element.key;
    Err(Code::BadValue.error(format!("{name} can only be applied to the top-level document")))
}
