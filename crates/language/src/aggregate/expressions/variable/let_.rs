//! `$let`: a value computed with variables.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Evaluated, Frame, Node, Parser, Scope, Special};
use bson::RawBsonRef;
use error::{Code, Result};
use value::Value;
use value::element::elements;

#[derive(Debug)]
struct Let {
    first: usize,
    values: Vec<Node>,
    body: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(16874).error("$let only supports an object as its argument"));
    };
    let (mut variables, mut body) = (None, None);
    for element in elements(document) {
        match element.key {
            "vars" => variables = Some(element.value()),
            "in" => body = Some(element.value()),
            key => {
                return Err(
                    Code::location(16875).error(format!("Unrecognized parameter to $let: {key}"))
                );
            }
        }
    }
    let Some(variables) = variables else {
        return Err(Code::location(16876).error("Missing 'vars' parameter to $let"));
    };
    let Some(body) = body else {
        return Err(Code::location(16877).error("Missing 'in' parameter to $let"));
    };
    let RawBsonRef::Document(variables) = variables else {
        return Err(Code::location(10065).error("invalid parameter: expected an object (vars)"));
    };
    let mut names = Vec::new();
    let mut values = Vec::new();
    for element in elements(variables) {
        check_write_name(element.key)?;
        names.push(element.key);
        values.push(parser.operand(element.value())?);
    }
    let (first, body) = parser.with_variables(&names, |parser| parser.operand(body))?;
    Ok(Node::Special(Box::new(Let { first, values, body })))
}

impl Special for Let {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let mut values = Vec::with_capacity(self.values.len());
        let mut held = Held::default();
        for node in &self.values {
            let value = node.evaluate(scope)?;
            held.add(value.as_ref())?;
            values.push(value);
        }
        let frame = Frame { first: self.first, values: &values, parent: scope.frame };
        let inner = Scope { frame: Some(&frame), ..*scope };
        let value = self.body.evaluate(&inner)?;
        Ok(value.map(|value| Value::Own(value.into_owned())))
    }

    fn operands(&self) -> Vec<&Node> {
        self.values.iter().chain([&self.body]).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.values.iter_mut().chain([&mut self.body]).collect()
    }
}
