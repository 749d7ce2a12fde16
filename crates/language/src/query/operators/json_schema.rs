//! `$jsonSchema`

use super::TopOperator;
use crate::query::{Node, parse::Scope};
use crate::schema::Schema;
use bson::RawBsonRef;
use error::{Code, Result};
use std::sync::Arc;
use value::Element;

pub const ROW: TopOperator =
    TopOperator { name: "$jsonSchema", help: "Documents that a schema describes.", parse };

fn parse(element: Element<'_>, scope: &Scope<'_>) -> Result<Node> {
    let refused = "$jsonSchema is not allowed in this context";
    scope.expect_special(Code::QueryFeatureNotAllowed, refused)?;
    let RawBsonRef::Document(schema) = element.value() else {
        return Err(Code::TypeMismatch.error("$jsonSchema must be an object"));
    };
    Ok(Node::JsonSchema(Arc::new(Schema::parse(schema)?)))
}
