//! `$year`, `$month`, … : one part of a date.

use super::civil::Civil;
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, Special, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::elements;
use value::{Collator, Value};

type Read = fn(&Civil) -> i64;

#[derive(Debug)]
struct Part {
    date: Node,
    zone: Option<Node>,
    read: Read,
    /// `$isoWeekYear` and `$isoDayOfWeek` differ in width from the others.
    long: bool,
}

macro_rules! parts {
    ($($name:ident $operator:literal $read:expr, $long:literal;)*) => {
        $(pub fn $name(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
            parse($operator, parser, operand, $read, $long)
        })*
    };
}

parts! {
    day_of_month "$dayOfMonth" |date| date.day, false;
    day_of_week "$dayOfWeek" |date| date.day_of_week(), false;
    day_of_year "$dayOfYear" |date| date.day_of_year(), false;
    hour "$hour" |date| date.hour, false;
    iso_day_of_week "$isoDayOfWeek" |date| date.iso_day_of_week(), false;
    iso_week "$isoWeek" |date| date.iso_week().week, false;
    iso_week_year "$isoWeekYear" |date| date.iso_week().year, true;
    millisecond "$millisecond" |date| date.millisecond, false;
    minute "$minute" |date| date.minute, false;
    month "$month" |date| date.month, false;
    second "$second" |date| date.second, false;
    week "$week" |date| date.week(), false;
    year "$year" |date| date.year, false;
}

/// Takes a date, `[date]` or `{date, timezone}`.
fn parse(
    name: &'static str,
    parser: &mut Parser<'_>,
    operand: RawBsonRef<'_>,
    read: Read,
    long: bool,
) -> Result<Node> {
    let named = match operand {
        RawBsonRef::Document(document) => {
            let operator = elements(document).next().is_some_and(|e| e.key.starts_with('$'));
            (!operator).then_some(document)
        }
        _ => None,
    };
    let Some(document) = named else {
        let mut operands = parser.operands(operand)?;
        return match (operands.pop(), operands.len()) {
            (Some(date), 0) => Ok(Node::Special(Box::new(Part { date, zone: None, read, long }))),
            (last, rest) => Err(Code::location(40536).error(format!(
                "{name} accepts exactly one argument if given an array, but was given {}",
                rest + usize::from(last.is_some())
            ))),
        };
    };
    let (mut date, mut zone) = (None, None);
    for element in elements(document) {
        let slot = match element.key {
            "date" => &mut date,
            "timezone" => &mut zone,
            key => {
                return Err(Code::location(40535)
                    .error(format!("unrecognized option to {name}: \"{key}\"")));
            }
        };
        *slot = Some(parser.operand(element.value())?);
    }
    match date {
        Some(date) => Ok(Node::Special(Box::new(Part { date, zone, read, long }))),
        None => Err(Code::location(40539).error(format!("missing 'date' argument to {name}"))),
    }
}

impl Special for Part {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let date = self.date.evaluate(scope)?;
        let Some(date) =
            date.as_ref().map(Value::get).filter(|date| !coerce::is_nullish(Some(*date)))
        else {
            return null();
        };
        let millis = coerce::to_date(date)?;
        let zone = match &self.zone {
            None => Some(Zone::UTC),
            Some(zone) => Zone::of_value(zone.evaluate(scope)?.as_ref().map(Value::get))?,
        };
        let Some(zone) = zone else { return null() };
        let part = (self.read)(&zone.local(millis));
        if self.long { own(part) } else { own(part as i32) }
    }

    fn operands(&self) -> Vec<&Node> {
        std::iter::once(&self.date).chain(&self.zone).collect()
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        std::iter::once(&mut self.date).chain(&mut self.zone).collect()
    }

    /// A constant that is no zone is found before any document is read.
    fn fold(&mut self, collator: Option<&Collator>) -> Result<Option<Node>> {
        for operand in self.operands_mut() {
            operand.fold(collator)?;
        }
        if self.operands().into_iter().all(Node::is_constant) {
            return Ok(None);
        }
        Zone::check(self.zone.as_ref())?;
        Ok(None)
    }
}
