//! Units of time, and moving a date by them.

use super::civil::{MILLIS_PER_DAY, days_in_month, to_days};
use super::zone::Zone;
use crate::aggregate::expressions::{Arguments, coerce};
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
        match arguments.get(at) {
            Some(RawBsonRef::String(name)) => Unit::parse(name),
            other => Err(Code::location(5439013).error(format!(
                "{} requires 'unit' to be a string, but got {}",
                arguments.name,
                coerce::type_name(other)
            ))),
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
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let text = match arguments.get(at) {
        Some(RawBsonRef::String(text)) => text,
        other => {
            return Err(Code::location(5439015).error(format!(
                "{} requires 'startOfWeek' to be a string, but got {}",
                arguments.name,
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
                "{} parameter 'startOfWeek' value cannot be recognized as a day of a week: {text}",
                arguments.name
            ))
        })
}

/// A date moved by an amount of a unit: days and longer move the local date,
/// hours and shorter the instant.
pub fn add(millis: i64, unit: Unit, amount: i64, zone: &Zone) -> Result<i64> {
    let invalid = || {
        Code::location(5976500).error(format!("invalid dateAdd 'amount' parameter value: {amount}"))
    };
    let moved = if let Some(months) = unit.months() {
        let months = amount.checked_mul(months).filter(|m| m.abs() < 12 * 600_000_000);
        let months = months.ok_or_else(invalid)?;
        let local = zone.local(millis);
        let (year, month) = (local.year, local.month + months);
        let day = local.day.min(days_in_month(year, month));
        let of_day = zone.local_millis(millis).rem_euclid(MILLIS_PER_DAY);
        let days = to_days(year, month, day);
        let local = days.checked_mul(MILLIS_PER_DAY).and_then(|day| day.checked_add(of_day));
        local.map(|local| zone.instant(local))
    } else {
        let length = unit.millis().unwrap_or(1);
        let distance = amount.checked_mul(length).ok_or_else(invalid)?;
        if matches!(unit, Unit::Day | Unit::Week) {
            zone.local_millis(millis).checked_add(distance).map(|local| zone.instant(local))
        } else {
            millis.checked_add(distance)
        }
    };
    moved.ok_or_else(|| Code::Overflow.error("$dateAdd overflowed"))
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
        Unit::Millisecond => end.checked_sub(start).ok_or_else(|| {
            Code::DurationOverflow.error("the difference of the dates is out of range")
        })?,
        unit => {
            let length = unit.millis().unwrap_or(1);
            let (from, to) = (zone.offset(start), zone.offset(end));
            let whole =
                |millis: i64, offset: i64| (millis.saturating_add(offset)).div_euclid(length);
            whole(end, to) - whole(start, from) - (to - from).div_euclid(length)
        }
    })
}
