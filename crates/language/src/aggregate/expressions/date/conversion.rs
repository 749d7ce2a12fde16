//! What the expressions between dates and text share: operands by name, of which some
//! are evaluated only where they are needed, a format and a zone among them.

use super::zone::Zone;
use crate::aggregate::expressions::node::null;
use crate::aggregate::expressions::table::Named;
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::{Collator, Value};

/// Where the format stands among the operands, and the zone.
const FORMAT: usize = 1;
const ZONE: usize = 2;

/// Operands by the order of their fields.
#[derive(Debug)]
pub struct Operands(Vec<Option<Node>>);

type Convert = for<'a> fn(&'a Operands, &'a Scope<'a>) -> Evaluated<'a>;

#[derive(Debug)]
struct Conversion {
    operands: Operands,
    convert: Convert,
}

/// An expression that `convert` computes.
pub fn parse(
    parser: &mut Parser<'_>,
    operand: RawBsonRef<'_>,
    name: &'static str,
    named: &Named,
    convert: Convert,
) -> Result<Node> {
    let operands = Operands(parser.named_operands(name, named, operand)?);
    Ok(Node::Special(Box::new(Conversion { operands, convert })))
}

impl Operands {
    /// The value of an operand; the outer `None` is one that was not given.
    pub fn get<'a>(&'a self, at: usize, scope: &'a Scope<'a>) -> Result<Option<Option<Value<'a>>>> {
        match self.0.get(at) {
            Some(Some(node)) => Ok(Some(node.evaluate(scope)?)),
            _ => Ok(None),
        }
    }

    /// What stands in for a null, or null itself.
    pub fn or_null<'a>(&'a self, at: usize, scope: &'a Scope<'a>) -> Evaluated<'a> {
        self.get(at, scope)?.map_or_else(null, Ok)
    }

    /// The format, checked; `None` where none was given, `Some(None)` where it is null.
    pub fn format<'a>(
        &'a self,
        scope: &'a Scope<'a>,
        check: fn(&str) -> Result<()>,
        wrong: (i32, &str),
    ) -> Result<Option<Option<String>>> {
        let Some(format) = self.get(FORMAT, scope)? else { return Ok(None) };
        match format.as_ref().map(Value::get) {
            value if coerce::is_nullish(value) => Ok(Some(None)),
            Some(RawBsonRef::String(text)) => {
                check(text)?;
                Ok(Some(Some(text.to_owned())))
            }
            other => Err(Code::location(wrong.0).error(format!(
                "{} requires that 'format' be a string, found: {}",
                wrong.1,
                coerce::type_name(other)
            ))),
        }
    }

    /// The zone; `None` where it is null.
    pub fn zone<'a>(&'a self, scope: &'a Scope<'a>) -> Result<Option<Zone>> {
        match self.get(ZONE, scope)? {
            None => Ok(Some(Zone::UTC)),
            Some(zone) => Zone::of_value(zone.as_ref().map(Value::get)),
        }
    }
}

impl Special for Conversion {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        (self.convert)(&self.operands, scope)
    }

    fn operands(&self) -> Vec<&Node> {
        self.operands.0.iter().flatten().collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        self.operands.0.iter_mut().flatten().collect()
    }

    /// A constant that is no zone is found before any document is read.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if self.operands().into_iter().all(Node::is_constant) {
            return Ok(None);
        }
        Zone::check(self.operands.0.get(ZONE).and_then(Option::as_ref))?;
        Ok(None)
    }
}
