//! `$sortArray`: the elements in order, whole or by fields.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{
    Evaluated, FieldPath, Node, Parser, Scope, Special, coerce, held,
};
use crate::interrupt;
use crate::sort::Pattern;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use value::element::{array_elements, elements};
use value::key::{Direction, Key};
use value::{ArrayWriter, Value};

#[derive(Debug)]
enum Order {
    Whole(Direction),
    Fields(Pattern),
}

#[derive(Debug)]
struct SortArray {
    input: Node,
    order: Order,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::Document(document) = operand else {
        return Err(Code::location(2942500).error(format!(
            "$sortArray requires an object as an argument, found: {}",
            coerce::type_name(Some(operand))
        )));
    };
    let (mut input, mut order) = (None, None);
    for element in elements(document) {
        match element.key {
            "input" => input = Some(parser.operand(element.value())?),
            "sortBy" => order = Some(parse_order(element.value())?),
            key => {
                return Err(Code::location(2942501)
                    .error(format!("$sortArray found an unknown argument: {key}")));
            }
        }
    }
    let Some(input) = input else {
        return Err(Code::location(2942502).error("$sortArray requires 'input' to be specified"));
    };
    let Some(order) = order else {
        return Err(Code::location(2942503).error("$sortArray requires 'sortBy' to be specified"));
    };
    Ok(Node::Special(Box::new(SortArray { input, order })))
}

fn parse_order(value: RawBsonRef<'_>) -> Result<Order> {
    let RawBsonRef::Document(document) = value else {
        if !coerce::is_numeric(Some(value)) {
            return Err(Code::location(2942507).error(
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
            ));
        }
        return Ok(Order::Whole(direction(value, 2942506)?));
    };
    let mut fields = Vec::new();
    for element in elements(document) {
        if element.key.is_empty() || element.key.split('.').any(str::is_empty) {
            return Err(Code::location(2942505).error("The $sort field cannot be empty"));
        }
        let path = FieldPath::parse(element.key)
            .map_err(|error| Code::location(2942505).error(error.message()))?;
        fields.push((path.path().clone(), direction(element.value(), 2942505)?));
    }
    if fields.is_empty() {
        return Err(Code::location(2942505)
            .error("The $sort pattern is empty when it should be a set of fields."));
    }
    Ok(Order::Fields(Pattern::from_fields(fields)))
}

fn direction(value: RawBsonRef<'_>, code: i32) -> Result<Direction> {
    match coerce::integral32(Some(value)) {
        Some(1) => Ok(Direction::Ascending),
        Some(-1) => Ok(Direction::Descending),
        _ => Err(Code::location(code).error("The $sort element value must be either 1 or -1")),
    }
}

impl Special for SortArray {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.input.evaluate(scope)?;
        let array = match input.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => return null(),
            Some(RawBsonRef::Array(array)) => array,
            other => {
                return Err(Code::location(2942504).error(format!(
                    "The input argument to $sortArray must be an array, but was of type: {}",
                    coerce::type_name(other)
                )));
            }
        };
        let empty = RawDocumentBuf::new();
        let keyed = array_elements(array).map(|element| {
            let mut key = Key::default();
            match &self.order {
                Order::Whole(direction) => key.push(element.value(), *direction, scope.collator),
                Order::Fields(pattern) => {
                    let document = element.value().as_document().unwrap_or(&empty);
                    pattern.key(document, scope.collator, &mut key)?;
                }
            }
            Ok((key.bytes.into_boxed_slice(), element))
        });
        let (keyed, _held) = held::collect(keyed)?;
        let sorted = interrupt::sort(keyed, |(a, _), (b, _)| a.cmp(b))?;
        let mut out = ArrayWriter::new();
        for (_, element) in sorted {
            interrupt::check()?;
            out.copy(element);
        }
        own(out.finish())
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.input]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input]
    }
}
