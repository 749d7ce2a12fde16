//! Dates, with IANA time zones.

mod add;
pub mod civil;
mod conversion;
mod diff;
pub mod format;
mod from_parts;
mod from_string;
mod parse;
mod part;
mod subtract;
mod to_parts;
mod to_string;
mod trunc;
mod ts_increment;
mod ts_second;
pub mod unit;
pub mod zone;

use super::table::{Arity, Field, Named, optional, required};
use super::{Arguments, Row, coerce};
use error::{Code, Result};

pub use parse::parse_text;

const fn arithmetic(function: super::call::Function) -> Named {
    Named { fields: ARITHMETIC, not_object: 5166400, unknown: 5166401, function }
}

const ARITHMETIC: &[Field] = &[
    required("startDate", 5166402),
    required("unit", 5166402),
    required("amount", 5166402),
    optional("timezone"),
];

const DIFF: &[Field] = &[
    required("startDate", 5166303),
    required("endDate", 5166304),
    required("unit", 5166305),
    optional("timezone"),
    optional("startOfWeek"),
];

const TRUNC: &[Field] = &[
    required("date", 5439009),
    required("unit", 5439010),
    optional("binSize"),
    optional("timezone"),
    optional("startOfWeek"),
];

const TO_PARTS: &[Field] = &[required("date", 40522), optional("timezone"), optional("iso8601")];

pub const ROWS: &[Row] = &[
    Row::named("$dateAdd", arithmetic(add::evaluate), "a date and an amount of time")
        .checked(add::check),
    Row::named(
        "$dateDiff",
        Named { fields: DIFF, not_object: 5166301, unknown: 5166302, function: diff::evaluate },
        "the difference of dates in a unit",
    )
    .checked(diff::check),
    Row::own("$dateFromParts", from_parts::parse, "a date of year, month, day, …")
        .checked(from_parts::check),
    Row::own("$dateFromString", from_string::parse, "a date of text"),
    Row::named("$dateSubtract", arithmetic(subtract::evaluate), "a date less an amount of time")
        .checked(add::check),
    Row::named(
        "$dateToParts",
        Named { fields: TO_PARTS, not_object: 40524, unknown: 40520, function: to_parts::evaluate },
        "year, month, day, … of a date",
    )
    .checked(to_parts::check),
    Row::own("$dateToString", to_string::parse, "a date as text"),
    Row::named(
        "$dateTrunc",
        Named { fields: TRUNC, not_object: 5439007, unknown: 5439008, function: trunc::evaluate },
        "the beginning of a date's unit",
    )
    .checked(trunc::check),
    Row::own("$dayOfMonth", part::day_of_month, "the day of the month"),
    Row::own("$dayOfWeek", part::day_of_week, "the day of the week, Sunday 1"),
    Row::own("$dayOfYear", part::day_of_year, "the day of the year"),
    Row::own("$hour", part::hour, "the hour"),
    Row::own("$isoDayOfWeek", part::iso_day_of_week, "the ISO day of the week, Monday 1"),
    Row::own("$isoWeek", part::iso_week, "the ISO week"),
    Row::own("$isoWeekYear", part::iso_week_year, "the year of the ISO week"),
    Row::own("$millisecond", part::millisecond, "the millisecond"),
    Row::own("$minute", part::minute, "the minute"),
    Row::own("$month", part::month, "the month"),
    Row::own("$second", part::second, "the second"),
    Row::call("$tsIncrement", Arity::Exactly(1), ts_increment::evaluate, "a timestamp's counter"),
    Row::call("$tsSecond", Arity::Exactly(1), ts_second::evaluate, "a timestamp's seconds"),
    Row::own("$week", part::week, "the week of the year"),
    Row::own("$year", part::year, "the year"),
];

/// The date an operand must be.
fn date(arguments: &Arguments<'_, '_>, at: usize, parameter: &str) -> Result<i64> {
    match arguments.get(at).and_then(coerce::date) {
        Some(millis) => Ok(millis),
        None => Err(Code::location(5166307).error(format!(
            "{} requires '{parameter}' to be a date, but got {}",
            arguments.name,
            coerce::type_name(arguments.get(at))
        ))),
    }
}

#[cfg(test)]
mod tests;
