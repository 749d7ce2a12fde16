//! `$setField` and `$unsetField`: a document with a field set or removed,
//! whatever characters its name has.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::element::elements;
use value::{DocumentWriter, Value};

#[derive(Debug)]
struct SetField {
    name: &'static str,
    field: Box<str>,
    input: Node,
    /// `None` removes the field.
    value: Option<Node>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    parse_as("$setField", parser, operand)
}

pub fn parse_unset(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    parse_as("$unsetField", parser, operand)
}

fn parse_as(name: &'static str, parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let sets = name == "$setField";
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(4161100)
            .error(format!("{name} only supports an object as its argument")));
    };
    let (mut field, mut input, mut value) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "field" => field = Some(element.value()),
            "input" => input = Some(parser.operand(element.value())?),
            "value" if sets => value = Some(parser.operand(element.value())?),
            key => {
                return Err(Code::location(4161101)
                    .error(format!("{name} found an unknown argument: {key}")));
            }
        }
    }
    let missing = |code, field: &str| {
        Code::location(code).error(format!("{name} requires '{field}' to be specified"))
    };
    let field = field.ok_or_else(|| missing(4161102, "field"))?;
    if sets && value.is_none() {
        return Err(missing(4161103, "value"));
    }
    let input = input.ok_or_else(|| missing(4161109, "input"))?;
    let field = field_name(name, parser, field)?;
    Ok(Node::Special(Box::new(SetField { name, field, input, value })))
}

/// The name, which must be a constant string.
fn field_name(name: &str, parser: &mut Parser<'_>, field: RawBsonRef<'_>) -> Result<Box<str>> {
    if let RawBsonRef::String(path) = field
        && path.starts_with('$')
    {
        return Err(Code::location(4161108).error(format!(
            "'{path}' is a field path reference which is not allowed in this context. Did you mean {{$literal: '{path}'}}?"
        )));
    }
    match &parser.operand(field)? {
        Node::Constant(Some(RawBson::String(field))) => {
            if field.contains('\0') {
                return Err(Code::location(9534700)
                    .error(format!("{name} does not allow embedded null bytes in 'field'")));
            }
            Ok(field.as_str().into())
        }
        Node::Constant(other) => Err(Code::location(4161107).error(format!(
            "{name} requires 'field' to evaluate to type String, but got {}",
            coerce::type_name(other.as_ref().map(RawBson::as_raw_bson_ref))
        ))),
        _ => Err(Code::location(4161106)
            .error(format!("{name} requires 'field' to evaluate to a constant"))),
    }
}

impl Special for SetField {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let _held = Held::value(input.as_ref())?;
        let document = match input.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => return null(),
            Some(RawBsonRef::Document(document)) => document,
            other => {
                return Err(Code::location(4161105).error(format!(
                    "{} requires 'input' to evaluate to type Object, but got {}",
                    self.name,
                    coerce::type_name(other)
                )));
            }
        };
        let value = match &self.value {
            Some(value) => value.evaluate(scope)?,
            None => None,
        };
        let mut out = DocumentWriter::new();
        let mut seen = false;
        for element in elements(document) {
            if *element.key != *self.field {
                out.copy(element);
            } else if let Some(value) = &value {
                seen = true;
                out.append(&self.field, value.get());
            }
        }
        if let Some(value) = value.filter(|_| !seen) {
            out.append(&self.field, value.get());
        }
        own(out.finish())
    }

    fn operands(&self) -> Vec<&Node> {
        std::iter::once(&self.input).chain(&self.value).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        std::iter::once(&mut self.input).chain(&mut self.value).collect()
    }
}
