//! `$reduce`: one value out of all elements.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::null;
use crate::aggregate::expressions::{Evaluated, Frame, Node, Parser, Scope, Special, coerce};
use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Result};
use value::Value;
use value::element::{array_elements, elements};

/// How often the nesting of the value is looked at.
const DEPTH_CHECK_EVERY: usize = 32;

#[derive(Debug)]
struct Reduce {
    input: Node,
    initial: Node,
    /// The slot of `this`; `value` follows it.
    slot: usize,
    body: Node,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(40075).error(format!(
            "$reduce requires an object as an argument, found: {}",
            coerce::type_name(Some(operand))
        )));
    };
    let (mut input, mut initial, mut body) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "input" => input = Some(parser.operand(element.value())?),
            "initialValue" => initial = Some(parser.operand(element.value())?),
            "in" => body = Some(element.value()),
            key => {
                return Err(Code::location(40076)
                    .error(format!("$reduce found an unknown argument: {key}")));
            }
        }
    }
    let missing = |code, name: &str| {
        Code::location(code).error(format!("$reduce requires '{name}' to be specified"))
    };
    let input = input.ok_or_else(|| missing(40077, "input"))?;
    let initial = initial.ok_or_else(|| missing(40078, "initialValue"))?;
    let body = body.ok_or_else(|| missing(40079, "in"))?;
    let (slot, body) = parser.with_variables(&["this", "value"], |parser| parser.operand(body))?;
    Ok(Node::Special(Box::new(Reduce { input, initial, slot, body })))
}

impl Special for Reduce {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let _held = Held::value(input.as_ref())?;
        let Some(array) = super::input(
            input.as_ref(),
            40080,
            "$reduce requires that 'input' be an array, found:",
        )?
        else {
            return null();
        };
        let mut value = self.initial.evaluate(scope)?.map(Value::into_owned);
        let mut kept = Held::raw(value.as_ref())?;
        for (at, element) in array_elements(array).enumerate() {
            interrupt::check()?;
            let values = [
                Some(Value::Ref(element.value())),
                value.as_ref().map(|value| Value::Ref(value.as_raw_bson_ref())),
            ];
            let frame = Frame { first: self.slot, values: &values, parent: scope.frame };
            let inner = Scope { frame: Some(&frame), ..*scope };
            let next = self.body.evaluate(&inner)?.map(Value::into_owned);
            value = next;
            drop(kept);
            kept = Held::raw(value.as_ref())?;
            if let Some(value) = value.as_ref().filter(|_| at % DEPTH_CHECK_EVERY == 0) {
                coerce::check_depth(value.as_raw_bson_ref())?;
            }
        }
        Ok(value.map(Value::Own))
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.input, &self.initial, &self.body]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input, &mut self.initial, &mut self.body]
    }
}
