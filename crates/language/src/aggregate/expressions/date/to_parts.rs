//! `$dateToParts`: year, month, day, … of a date.

use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use value::DocumentWriter;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let Some(zone) = Zone::of(&arguments, 1)? else { return null() };
    let iso = match arguments.get(2) {
        _ if !arguments.given(2) => false,
        value if coerce::is_nullish(value) => return null(),
        Some(RawBsonRef::Boolean(value)) => value,
        other => {
            return Err(Code::location(40521).error(format!(
                "iso8601 must evaluate to a bool, found {}",
                coerce::type_name(other)
            )));
        }
    };
    let Some(date) = arguments.get(0).filter(|_| !arguments.nullish(0)) else { return null() };
    let local = zone.local(coerce::to_date(date)?);
    let week = local.iso_week();
    let parts = if iso {
        [
            ("isoWeekYear", week.year),
            ("isoWeek", week.week),
            ("isoDayOfWeek", local.iso_day_of_week()),
        ]
    } else {
        [("year", local.year), ("month", local.month), ("day", local.day)]
    };
    let time = [
        ("hour", local.hour),
        ("minute", local.minute),
        ("second", local.second),
        ("millisecond", local.millisecond),
    ];
    let mut out = DocumentWriter::new();
    for (name, value) in parts.into_iter().chain(time) {
        out.append_i32(name, value as i32);
    }
    own(out.finish())
}

/// Finds a constant that is no zone.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    Zone::check(operands.get(1).and_then(Option::as_ref))?;
    Ok(None)
}
