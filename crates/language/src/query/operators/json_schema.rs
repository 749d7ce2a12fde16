//! `$jsonSchema`

use super::TopOperator;
use crate::query::{Node, parse::Scope};
use bson::spec::ElementType;
use error::{Code, Result};
use value::Element;

pub const ROW: TopOperator =
    TopOperator { name: "$jsonSchema", help: "Documents that a schema describes.", parse };

fn parse(element: Element<'_>, _: &Scope<'_>) -> Result<Node> {
    if element.kind != ElementType::EmbeddedDocument {
        return Err(Code::TypeMismatch.error("$jsonSchema must be an object"));
    }
    Err(Code::NotImplemented.error("$jsonSchema is not supported yet"))
}
