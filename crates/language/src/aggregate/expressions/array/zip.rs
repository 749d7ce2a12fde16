//! `$zip`: arrays, element by element.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use crate::{describe, interrupt};
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::{array_elements, elements};
use value::{ArrayWriter, Value};

#[derive(Debug)]
struct Zip {
    inputs: Vec<Node>,
    longest: bool,
    defaults: Vec<Node>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(34460).error(format!(
            "$zip only supports an object as an argument, found {}",
            coerce::type_name(Some(operand))
        )));
    };
    let mut zip = Zip { inputs: Vec::new(), longest: false, defaults: Vec::new() };
    for element in elements(document) {
        match (element.key, element.value()) {
            ("inputs", value @ RawBsonRef::Array(_)) => zip.inputs = parser.operands(value)?,
            ("inputs", other) => {
                return Err(Code::location(34461).error(format!(
                    "inputs must be an array of expressions, found {}",
                    coerce::type_name(Some(other))
                )));
            }
            ("defaults", value @ RawBsonRef::Array(_)) => zip.defaults = parser.operands(value)?,
            ("defaults", other) => {
                return Err(Code::location(34462).error(format!(
                    "defaults must be an array of expressions, found {}",
                    coerce::type_name(Some(other))
                )));
            }
            ("useLongestLength", RawBsonRef::Boolean(value)) => zip.longest = value,
            ("useLongestLength", other) => {
                return Err(Code::location(34463).error(format!(
                    "useLongestLength must be a bool, found {}",
                    coerce::type_name(Some(other))
                )));
            }
            (key, _) => {
                return Err(
                    Code::location(34464).error(format!("$zip found an unknown argument: {key}"))
                );
            }
        }
    }
    if zip.inputs.is_empty() {
        return Err(Code::location(34465).error("$zip requires at least one input array"));
    }
    if !zip.defaults.is_empty() && !zip.longest {
        return Err(
            Code::location(34466).error("cannot specify defaults unless useLongestLength is true")
        );
    }
    if !zip.defaults.is_empty() && zip.defaults.len() != zip.inputs.len() {
        return Err(Code::location(34467).error("defaults and inputs must have the same length"));
    }
    Ok(Node::Special(Box::new(zip)))
}

impl Special for Zip {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let mut inputs = Vec::new();
        let mut held = Held::default();
        for node in &self.inputs {
            let value = node.evaluate(scope)?;
            held.add(value.as_ref())?;
            match value.as_ref().map(Value::get) {
                value if coerce::is_nullish(value) => return null(),
                Some(RawBsonRef::Array(_)) => inputs.extend(value),
                other => {
                    return Err(Code::location(34468).error(format!(
                        "$zip found a non-array expression in input: {}",
                        other.map(describe::value).unwrap_or_default()
                    )));
                }
            }
        }
        let mut defaults = Vec::new();
        for node in &self.defaults {
            let value = node.evaluate(scope)?;
            held.add(value.as_ref())?;
            defaults.push(value);
        }
        let mut columns: Vec<_> = inputs
            .iter()
            .filter_map(|input| input.get().as_array())
            .map(|array| array_elements(array))
            .collect();
        let mut written = Held::default();
        let mut out = ArrayWriter::new();
        loop {
            let row: Vec<_> = columns.iter_mut().map(Iterator::next).collect();
            let (any, all) = (row.iter().any(Option::is_some), row.iter().all(Option::is_some));
            if !(if self.longest { any } else { all }) {
                return own(out.finish());
            }
            let mut tuple = ArrayWriter::new();
            for (at, element) in row.into_iter().enumerate() {
                match (element, defaults.get(at)) {
                    (Some(element), _) => tuple.copy(element),
                    (None, Some(Some(default))) => tuple.push(default.get()),
                    (None, _) => tuple.push(RawBsonRef::Null),
                }
            }
            let tuple = tuple.finish();
            interrupt::check_sized(tuple.as_bytes().len())?;
            out.push(RawBsonRef::Array(&tuple));
            written.write_array(&out)?;
        }
    }

    fn operands(&self) -> Vec<&Node> {
        self.inputs.iter().chain(&self.defaults).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.inputs.iter_mut().chain(&mut self.defaults).collect()
    }
}
