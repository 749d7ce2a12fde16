//! `$map`: an expression of each element.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Evaluated, Frame, Node, Parser, Scope, Special};
use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::{array_elements, elements};
use value::{ArrayWriter, Value};

#[derive(Debug)]
struct Map {
    input: Node,
    slot: usize,
    body: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(16878).error("$map only supports an object as its argument"));
    };
    let (mut input, mut name, mut body) = (None, "this", None);
    for element in elements(document) {
        match (element.key, element.value()) {
            ("input", value) => input = Some(parser.operand(value)?),
            ("as", RawBsonRef::String(text)) => name = text,
            // What is no string has no name in it.
            ("as", _) => name = "",
            ("in", value) => body = Some(value),
            (key, _) => {
                return Err(
                    Code::location(16879).error(format!("Unrecognized parameter to $map: {key}"))
                );
            }
        }
    }
    let Some(input) = input else {
        return Err(Code::location(16880).error("Missing 'input' parameter to $map"));
    };
    let Some(body) = body else {
        return Err(Code::location(16882).error("Missing 'in' parameter to $map"));
    };
    check_write_name(name)?;
    let (slot, body) = parser.with_variables(&[name], |parser| parser.operand(body))?;
    Ok(Node::Special(Box::new(Map { input, slot, body })))
}

impl Special for Map {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let _held = Held::value(input.as_ref())?;
        let Some(array) =
            super::input(input.as_ref(), 16883, "input to $map must be an array not")?
        else {
            return null();
        };
        let mut out = ArrayWriter::new();
        let mut written = Held::default();
        for element in array_elements(array) {
            interrupt::check()?;
            let values = [Some(Value::Ref(element.value()))];
            let frame = Frame { first: self.slot, values: &values, parent: scope.frame };
            let inner = Scope { frame: Some(&frame), ..*scope };
            match self.body.evaluate(&inner)? {
                Some(value) => out.push(value.get()),
                None => out.push(RawBsonRef::Null),
            }
            written.write_array(&out)?;
        }
        own(out.finish())
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.input, &self.body]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input, &mut self.body]
    }
}
