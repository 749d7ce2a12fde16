//! `$dateToString`: a date as text.

use super::format;
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::{Collator, Value};

const FIELDS: &[Field] =
    &[required("date", 18628), optional("format"), optional("timezone"), optional("onNull")];

#[derive(Debug)]
struct ToString {
    /// By the order of the fields.
    operands: Vec<Option<Node>>,
}

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 18629, unknown: 18534, function: |_| null() };
    let operands = parser.named_operands("$dateToString", &named, operand)?;
    Ok(Node::Special(Box::new(ToString { operands })))
}

impl ToString {
    /// The value of an operand; the outer `None` is one that was not given.
    fn operand<'a>(&'a self, at: usize, scope: &'a Scope<'a>) -> Result<Option<Option<Value<'a>>>> {
        match self.operands.get(at) {
            Some(Some(node)) => Ok(Some(node.evaluate(scope)?)),
            _ => Ok(None),
        }
    }
}

impl Special for ToString {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let date = self.operand(0, scope)?.flatten();
        let format = self.operand(1, scope)?;
        // A wrong format or zone is an error even where the date is null.
        let format = match &format {
            None => None,
            Some(format) => match format.as_ref().map(Value::get) {
                value if coerce::is_nullish(value) => Some(None),
                Some(RawBsonRef::String(text)) => {
                    format::check_to_text(text)?;
                    Some(Some(text))
                }
                other => {
                    return Err(Code::location(18533).error(format!(
                        "$dateToString requires that 'format' be a string, found: {}",
                        coerce::type_name(other)
                    )));
                }
            },
        };
        let zone = match self.operand(2, scope)? {
            None => Some(Zone::UTC),
            Some(zone) => Zone::of_value(zone.as_ref().map(Value::get))?,
        };
        let Some(date) =
            date.as_ref().map(Value::get).filter(|date| !coerce::is_nullish(Some(*date)))
        else {
            return match self.operand(3, scope)? {
                Some(value) => Ok(value),
                None => null(),
            };
        };
        let Some(zone) = zone else { return null() };
        let text = match format {
            Some(None) => return null(),
            Some(Some(text)) => text,
            None => format::default(&zone),
        };
        own(format::format(coerce::to_date(date)?, &zone, text)?)
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
