//! Units of time, and moving a date by them.

use super::civil::{MILLIS_PER_DAY, days_in_month, to_days};
use super::zone::Zone;
use crate::aggregate::expressions::{Arguments, Node, coerce};
use bson::RawBsonRef;
use error::{Code, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

impl Unit {
    pub fn parse(name: &str) -> Result<Unit> {
        Ok(match name {
            "year" => Unit::Year,
            "quarter" => Unit::Quarter,
            "month" => Unit::Month,
            "week" => Unit::Week,
            "day" => Unit::Day,
            "hour" => Unit::Hour,
            "minute" => Unit::Minute,
            "second" => Unit::Second,
            "millisecond" => Unit::Millisecond,
            _ => {
                return Err(Code::FailedToParse.error(format!("unknown time unit value: {name}")));
            }
        })
    }

    /// The unit an operand names.
    pub fn of(arguments: &Arguments<'_, '_>, at: usize) -> Result<Unit> {
        Unit::of_value(arguments.name, arguments.get(at))
    }

    fn of_value(expression: &str, value: Option<RawBsonRef<'_>>) -> Result<Unit> {
        match value {
            Some(RawBsonRef::String(name)) => Unit::parse(name),
            other => Err(Code::location(5439013).error(format!(
                "{expression} requires 'unit' to be a string, but got {}",
                coerce::type_name(other)
            ))),
        }
    }

    /// Finds a constant that is no unit.
    pub fn check(expression: &str, operand: Option<&Node>) -> Result<()> {
        match operand {
            Some(node) if node.is_constant() && !coerce::is_nullish(node.constant()) => {
                Unit::of_value(expression, node.constant()).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// How long it is, where it always is as long.
    pub fn millis(self) -> Option<i64> {
        match self {
            Unit::Week => Some(7 * MILLIS_PER_DAY),
            Unit::Day => Some(MILLIS_PER_DAY),
            Unit::Hour => Some(3_600_000),
            Unit::Minute => Some(60_000),
            Unit::Second => Some(1000),
            Unit::Millisecond => Some(1),
            _ => None,
        }
    }

    /// How many months it has.
    pub fn months(self) -> Option<i64> {
        match self {
            Unit::Year => Some(12),
            Unit::Quarter => Some(3),
            Unit::Month => Some(1),
            _ => None,
        }
    }
}

/// The days of the week as operands name them; Monday is 1.
pub fn day_of_week(arguments: &Arguments<'_, '_>, at: usize) -> Result<i64> {
    day_of_week_in(arguments.name, arguments.get(at))
}

/// Finds a constant that is no day of the week; says whether it is a null one.
pub fn check_day_of_week(expression: &str, operand: Option<&Node>) -> Result<bool> {
    match operand {
        Some(node) if node.is_constant() => {
            if coerce::is_nullish(node.constant()) {
                return Ok(true);
            }
            day_of_week_in(expression, node.constant()).map(|_| false)
        }
        _ => Ok(false),
    }
}

fn day_of_week_in(expression: &str, value: Option<RawBsonRef<'_>>) -> Result<i64> {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let text = match value {
        Some(RawBsonRef::String(text)) => text,
        other => {
            return Err(Code::location(5439015).error(format!(
                "{expression} requires 'startOfWeek' to be a string, but got {}",
                coerce::type_name(other)
            )));
        }
    };
    let lower = text.to_ascii_lowercase();
    NAMES
        .iter()
        .position(|name| *name == lower || name[..3] == lower)
        .map(|at| at as i64 + 1)
        .ok_or_else(|| {
            Code::location(5439016).error(format!(
                "{expression} parameter 'startOfWeek' value cannot be recognized as a day of a week: {text}"
            ))
        })
}

/// As many days as 64 bits of milliseconds hold, and how many years they may be.
const DAYS_END: i64 = (u64::MAX / MILLIS_PER_DAY as u64) as i64 + 1;
const YEARS_END: i64 = DAYS_END / 365 + 1;

/// A date moved by an amount of a unit: days and longer move the local date,
/// hours and shorter the instant.
pub fn add(millis: i64, unit: Unit, amount: i64, zone: &Zone) -> Result<i64> {
    if unit == Unit::Millisecond {
        return millis
            .checked_add(amount)
            .ok_or_else(|| Code::DurationOverflow.error("the date is out of range"));
    }
    let end = match (unit.months(), unit.millis()) {
        (Some(months), _) => YEARS_END * (12 / months),
        (None, length) => DAYS_END * 86_400 / (length.unwrap_or(1000) / 1000),
    };
    if amount <= -end || amount >= end {
        return Err(Code::location(5976500)
            .error(format!("invalid dateAdd 'amount' parameter value: {amount}")));
    }
    let overflowed = || Code::location(5166406).error("dateAdd overflowed");
    let moved = if let Some(months) = unit.months() {
        let months = amount * months;
        let local = zone.local(millis);
        let (year, month) = (local.year, local.month + months);
        let day = local.day.min(days_in_month(year, month));
        let of_day = zone.local_millis(millis).rem_euclid(MILLIS_PER_DAY);
        let days = to_days(year, month, day);
        let local = days.checked_mul(MILLIS_PER_DAY).and_then(|day| day.checked_add(of_day));
        local.map(|local| zone.instant(local))
    } else {
        let length = unit.millis().unwrap_or(1);
        let distance = amount.checked_mul(length).ok_or_else(overflowed)?;
        if matches!(unit, Unit::Day | Unit::Week) {
            zone.local_millis(millis).checked_add(distance).map(|local| zone.instant(local))
        } else {
            millis.checked_add(distance)
        }
    };
    moved.ok_or_else(overflowed)
}

/// How many borders of a unit lie between two dates.
pub fn difference(start: i64, end: i64, unit: Unit, zone: &Zone, first_day: i64) -> Result<i64> {
    let (from, to) = (zone.local(start), zone.local(end));
    let days = |millis: i64| zone.local_millis(millis).div_euclid(MILLIS_PER_DAY);
    Ok(match unit {
        Unit::Year => to.year - from.year,
        Unit::Quarter => (to.year - from.year) * 4 + (to.month - 1) / 3 - (from.month - 1) / 3,
        Unit::Month => (to.year - from.year) * 12 + to.month - from.month,
        Unit::Week => {
            // Day 0 was a Thursday, the fourth day of a week that begins on Monday.
            let week = |millis: i64| (days(millis) + 4 - first_day).div_euclid(7);
            week(end) - week(start)
        }
        Unit::Day => days(end) - days(start),
        Unit::Millisecond => end
            .checked_sub(start)
            .ok_or_else(|| Code::location(5166308).error("dateDiff overflowed"))?,
        unit => {
            let length = unit.millis().unwrap_or(1);
            let (from, to) = (zone.offset(start), zone.offset(end));
            let whole =
                |millis: i64, offset: i64| (millis.saturating_add(offset)).div_euclid(length);
            whole(end, to) - whole(start, from) - (to - from) / length
        }
    })
}
