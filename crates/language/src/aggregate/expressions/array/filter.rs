//! `$filter`: elements for which a condition holds.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Evaluated, Frame, Node, Parser, Scope, Special, coerce};
use crate::describe;
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::{array_elements, elements};
use value::{ArrayWriter, Value};

#[derive(Debug)]
struct Filter {
    input: Node,
    slot: usize,
    condition: Node,
    limit: Option<Node>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(28646).error("$filter only supports an object as its argument"));
    };
    let (mut input, mut name, mut condition, mut limit) = (None, "this", None, None);
    for element in elements(document) {
        match (element.key, element.value()) {
            ("input", value) => input = Some(parser.operand(value)?),
            ("as", RawBsonRef::String(text)) => name = text,
            // What is no string has no name in it.
            ("as", _) => name = "",
            ("cond", value) => condition = Some(value),
            ("limit", value) => limit = Some(parser.operand(value)?),
            (key, _) => {
                return Err(Code::location(28647)
                    .error(format!("Unrecognized parameter to $filter: {key}")));
            }
        }
    }
    let Some(input) = input else {
        return Err(Code::location(28648).error("Missing 'input' parameter to $filter"));
    };
    let Some(condition) = condition else {
        return Err(Code::location(28650).error("Missing 'cond' parameter to $filter"));
    };
    check_write_name(name)?;
    let (slot, condition) = parser.with_variables(&[name], |parser| parser.operand(condition))?;
    Ok(Node::Special(Box::new(Filter { input, slot, condition, limit })))
}

impl Filter {
    fn limit<'a>(&'a self, scope: &'a Scope<'a>) -> Result<usize> {
        let Some(limit) = &self.limit else { return Ok(usize::MAX) };
        let limit = limit.evaluate(scope)?;
        let limit = limit.as_ref().map(Value::get);
        if coerce::is_nullish(limit) {
            return Ok(usize::MAX);
        }
        let Some(number) = coerce::integral32(limit) else {
            return Err(Code::location(327391).error(format!(
                "$filter: limit must be represented as a 32-bit integral value: {}",
                limit.map(describe::value).unwrap_or_default()
            )));
        };
        match usize::try_from(number) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Code::location(327392)
                .error(format!("$filter: limit must be greater than 0: {number}"))),
        }
    }
}

impl Special for Filter {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let _held = Held::value(input.as_ref())?;
        let array = match input.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => return null(),
            Some(RawBsonRef::Array(array)) => array,
            other => {
                return Err(Code::location(28651).error(format!(
                    "input to $filter must be an array not {}",
                    coerce::type_name(other)
                )));
            }
        };
        let limit = self.limit(scope)?;
        let mut out = ArrayWriter::new();
        for element in array_elements(array) {
            if out.len() == limit {
                break;
            }
            let values = [Some(Value::Ref(element.value()))];
            let frame = Frame { first: self.slot, values: &values, parent: scope.frame };
            let inner = Scope { frame: Some(&frame), ..*scope };
            if coerce::is_true(self.condition.evaluate(&inner)?.as_ref().map(Value::get)) {
                out.copy(element);
            }
        }
        own(out.finish())
    }

    fn operands(&self) -> Vec<&Node> {
        [&self.input, &self.condition].into_iter().chain(&self.limit).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        [&mut self.input, &mut self.condition].into_iter().chain(&mut self.limit).collect()
    }
}
