//! `$getField`: a field, whatever characters its name has.

use crate::aggregate::expressions::node::null;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::Value;
use value::element::{elements, get};

#[derive(Debug)]
struct GetField {
    field: Node,
    input: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let (field, input) = match operand {
        RawBsonRef::Document(document)
            if elements(document).next().is_none_or(|first| !first.key.starts_with('$')) =>
        {
            let (mut field, mut input) = (None, None);
            for element in elements(document) {
                match element.key {
                    "field" => field = Some(element.value()),
                    "input" => input = Some(parser.operand(element.value())?),
                    key => {
                        return Err(Code::location(3041701)
                            .error(format!("$getField found an unknown argument: {key}")));
                    }
                }
            }
            let field = field.ok_or_else(|| {
                Code::location(3041702).error("$getField requires 'field' to be specified")
            })?;
            let input = input.ok_or_else(|| {
                Code::location(3041703).error("$getField requires 'input' to be specified")
            })?;
            (field, input)
        }
        // The name alone is a field of the document itself.
        field => (field, parser.path("$$CURRENT")?),
    };
    if let RawBsonRef::String(name) = field
        && name.starts_with('$')
    {
        return Err(Code::location(5654600).error(format!(
            "'{name}' is a field path reference which is not allowed in this context. Did you mean {{$literal: '{name}'}}?"
        )));
    }
    let field = parser.operand(field)?;
    if field.is_constant() && !matches!(field.constant(), Some(RawBsonRef::String(_))) {
        return Err(Code::location(5654602).error(format!(
            "$getField requires 'field' to evaluate to type String, but got {}",
            coerce::type_name(field.constant())
        )));
    }
    Ok(Node::Special(Box::new(GetField { field, input })))
}

impl Special for GetField {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let field = self.field.evaluate(scope)?;
        let name = match field.as_ref().map(Value::get) {
            Some(RawBsonRef::String(name)) => name,
            other => {
                return Err(Code::location(3041704).error(format!(
                    "$getField requires 'field' to evaluate to type String, but got {}",
                    coerce::type_name(other)
                )));
            }
        };
        match self.input.evaluate(scope)? {
            Some(Value::Ref(RawBsonRef::Document(document))) => {
                Ok(get(document, name).map(|element| Value::Ref(element.value())))
            }
            Some(Value::Own(RawBson::Document(document))) => Ok(get(&document, name)
                .map(|element| Value::Own(value::value::to_owned(element.value())))),
            Some(value) if coerce::is_nullish(Some(value.get())) => null(),
            _ => Ok(None),
        }
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.field, &self.input]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.field, &mut self.input]
    }
}
