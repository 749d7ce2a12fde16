//! `$dateFromString`: a date of text.

use super::zone::Zone;
use super::{format, parse as text};
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::{DateTime, RawBsonRef};
use error::{Code, Result};
use value::{Collator, Value};

const FIELDS: &[Field] = &[
    required("dateString", 40542),
    optional("format"),
    optional("timezone"),
    optional("onNull"),
    optional("onError"),
];

#[derive(Debug)]
struct FromString {
    /// By the order of the fields.
    operands: Vec<Option<Node>>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 40540, unknown: 40541, function: |_| null() };
    let operands = parser.named_operands("$dateFromString", &named, operand)?;
    Ok(Node::Special(Box::new(FromString { operands })))
}

impl FromString {
    /// The value of an operand; the outer `None` is one that was not given.
    fn operand<'a>(&'a self, at: usize, scope: &'a Scope<'a>) -> Result<Option<Option<Value<'a>>>> {
        match self.operands.get(at) {
            Some(Some(node)) => Ok(Some(node.evaluate(scope)?)),
            _ => Ok(None),
        }
    }
}

impl Special for FromString {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let input = self.operand(0, scope)?.flatten();
        let _held = Held::value(input.as_ref())?;
        let format = self.operand(1, scope)?;
        let format = match &format {
            None => None,
            Some(format) => match format.as_ref().map(Value::get) {
                value if coerce::is_nullish(value) => Some(None),
                Some(RawBsonRef::String(text)) => {
                    format::check_from_text(text)?;
                    Some(Some(text))
                }
                other => {
                    return Err(Code::location(40684).error(format!(
                        "$dateFromString requires that 'format' be a string, found: {}",
                        coerce::type_name(other)
                    )));
                }
            },
        };
        let zone = match self.operand(2, scope)? {
            None => Some(Zone::UTC),
            Some(zone) => Zone::of_value(zone.as_ref().map(Value::get))?,
        };
        let input = input.as_ref().map(Value::get);
        if coerce::is_nullish(input) {
            return match self.operand(3, scope)? {
                Some(value) => Ok(value),
                None => null(),
            };
        }
        let parsed = match input {
            Some(RawBsonRef::String(input)) => match (zone, format) {
                (None, _) | (_, Some(None)) => return null(),
                (Some(zone), Some(Some(format))) => text::parse_format(input, format, &zone),
                (Some(zone), None) => text::parse_text(input, &zone),
            },
            other => Err(Code::ConversionFailure.error(format!(
                "$dateFromString requires that 'dateString' be a string, found: {}",
                coerce::type_name(other)
            ))),
        };
        match parsed {
            Err(error) if error.code() == Code::ConversionFailure => {
                self.operand(4, scope)?.ok_or(error)
            }
            parsed => own(DateTime::from_millis(parsed?)),
        }
    }

    fn operands(&self) -> Vec<&Node> {
        self.operands.iter().flatten().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.operands.iter_mut().flatten().collect()
    }

    /// A constant that is no zone is found before any document is read.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if self.operands().into_iter().all(Node::is_constant) {
            return Ok(None);
        }
        Zone::check(self.operands.get(2).and_then(Option::as_ref))?;
        Ok(None)
    }
}
