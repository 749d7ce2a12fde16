//! `$dateFromParts`: a date of year, month, day, … or of an ISO week.

use super::civil::{iso_to_days, to_days};
use super::zone::Zone;
use crate::aggregate::expressions::call::Call;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, find, optional};
use crate::aggregate::expressions::{Arguments, Evaluated, Node, Parser, coerce};
use bson::{DateTime, RawBsonRef};
use error::{Code, Result};

const FIELDS: &[Field] = &[
    optional("year"),
    optional("month"),
    optional("day"),
    optional("hour"),
    optional("minute"),
    optional("second"),
    optional("millisecond"),
    optional("isoWeekYear"),
    optional("isoWeek"),
    optional("isoDayOfWeek"),
    optional("timezone"),
];
const ISO_WEEK_YEAR: usize = 7;
const TIME_ZONE: usize = 10;

/// What a part may be, so that no date is far out of range.
const PART_BOUNDS: std::ops::RangeInclusive<i64> = i16::MIN as i64..=i16::MAX as i64;

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 40519, unknown: 40518, function: evaluate };
    let operands = parser.named_operands("$dateFromParts", &named, operand)?;
    let given = |range: std::ops::Range<usize>| {
        operands.get(range).is_some_and(|parts| parts.iter().any(Option::is_some))
    };
    if !given(0..1) && !given(7..8) {
        return Err(Code::location(40516)
            .error("$dateFromParts requires either 'year' or 'isoWeekYear' to be present"));
    }
    if given(0..1) && given(7..10) {
        return Err(Code::location(40489)
            .error("$dateFromParts does not allow mixing natural dates with ISO dates"));
    }
    if given(7..8) && given(0..3) {
        return Err(Code::location(40525)
            .error("$dateFromParts does not allow mixing ISO dates with natural dates"));
    }
    match find("$dateFromParts") {
        Some(row) => Ok(Node::Call(Call { row, function: evaluate, operands })),
        None => Ok(Node::null()),
    }
}

/// Finds a constant that is no zone.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    Zone::check(operands.get(TIME_ZONE).and_then(Option::as_ref))?;
    Ok(None)
}

/// The value of a part, its default where it is not given; `None` is null.
fn part(arguments: &Arguments<'_, '_>, at: usize, default: i64) -> Result<Option<i64>> {
    if !arguments.given(at) {
        return Ok(Some(default));
    }
    if arguments.nullish(at) {
        return Ok(None);
    }
    match coerce::integral64(arguments.get(at)) {
        Some(value) => Ok(Some(value)),
        None => Err(Code::location(40515).error(format!(
            "'{}' must evaluate to an integer, found {}",
            FIELDS[at].name,
            coerce::type_name(arguments.get(at))
        ))),
    }
}

fn bounded(arguments: &Arguments<'_, '_>, at: usize, default: i64) -> Result<Option<i64>> {
    let value = part(arguments, at, default)?;
    match value {
        Some(value) if !PART_BOUNDS.contains(&value) => Err(Code::location(31034).error(format!(
            "'{}' must evaluate to a value in the range [-32768, 32767]; value {value} is not in range",
            FIELDS[at].name
        ))),
        value => Ok(value),
    }
}

fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    // A null hides what is wrong with the parts after it.
    let Some(hour) = bounded(&arguments, 3, 0)? else { return null() };
    let Some(minute) = bounded(&arguments, 4, 0)? else { return null() };
    let Some(second) = part(&arguments, 5, 0)? else { return null() };
    let Some(millisecond) = part(&arguments, 6, 0)? else { return null() };
    let Some(zone) = Zone::of(&arguments, TIME_ZONE)? else { return null() };
    let iso = arguments.given(ISO_WEEK_YEAR);
    let first = if iso { ISO_WEEK_YEAR } else { 0 };
    let Some(year) = part(&arguments, first, 1970)? else { return null() };
    let Some(middle) = bounded(&arguments, first + 1, 1)? else { return null() };
    let Some(day) = bounded(&arguments, first + 2, 1)? else { return null() };
    if !(1..=9999).contains(&year) {
        let code = if iso { 31095 } else { 40523 };
        return Err(Code::location(code).error(format!(
            "'{}' must evaluate to an integer in the range 1 to 9999, found {year}",
            FIELDS[first].name
        )));
    }
    let days = if iso { iso_to_days(year, middle, day) } else { to_days(year, middle, day) };
    let time = second
        .checked_mul(1000)
        .and_then(|millis| millis.checked_add(millisecond))
        .and_then(|millis| millis.checked_add(hour * 3_600_000 + minute * 60_000))
        .ok_or_else(|| Code::DurationOverflow.error("the date's parts are out of range"))?;
    own(DateTime::from_millis(zone.from_parts(days, time)?))
}
