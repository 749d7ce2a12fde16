//! `$dateTrunc`: the beginning of the unit, or of the bin of units, that a date
//! is in. Bins are counted from the year 2000.

use super::civil::{MILLIS_PER_DAY, to_days};
use super::date;
use super::diff::SUNDAY;
use super::unit::{Unit, check_day_of_week, day_of_week};
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node, coerce};
use bson::{DateTime, RawBsonRef};
use error::{Code, Result};

/// The largest bin of days and longer units.
const BIN_UNITS_MAX: i64 = 100_000_000_000;
const REFERENCE_YEAR: i64 = 2000;
/// The first of January 2000 was a Saturday.
const REFERENCE_DAY_OF_WEEK: i64 = 6;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let mut size = 1;
    if arguments.given(2) {
        if arguments.nullish(2) {
            return null();
        }
        size = bin_size(arguments.get(2))?;
    }
    if arguments.nullish(1) {
        return null();
    }
    let unit = Unit::of(&arguments, 1)?;
    let mut first_day = SUNDAY;
    if unit == Unit::Week && arguments.given(4) {
        if arguments.nullish(4) {
            return null();
        }
        first_day = day_of_week(&arguments, 4)?;
    }
    let Some(zone) = Zone::of(&arguments, 3)? else { return null() };
    let millis = date(&arguments, 0, "date")?;
    own(DateTime::from_millis(truncate(millis, unit, size, &zone, first_day)?))
}

/// Finds constants that are no unit, size, zone or day.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    let operand = |at: usize| operands.get(at).and_then(Option::as_ref);
    Unit::check("$dateTrunc", operand(1))?;
    // No day at all makes the whole null, whatever the unit.
    if check_day_of_week("$dateTrunc", operand(4))? {
        return Ok(Some(Node::null()));
    }
    Zone::check(operand(3))?;
    if let Some(node) = operand(2)
        && node.is_constant()
        && !coerce::is_nullish(node.constant())
    {
        bin_size(node.constant())?;
    }
    Ok(None)
}

fn bin_size(value: Option<RawBsonRef<'_>>) -> Result<i64> {
    let Some(size) = coerce::integral64(value) else {
        return Err(Code::location(5439017).error(format!(
            "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value of type {}",
            coerce::type_name(value)
        )));
    };
    if size <= 0 {
        return Err(Code::location(5439018).error(format!(
            "$dateTrunc requires 'binSize' to be greater than 0, but got value {size}"
        )));
    }
    Ok(size)
}

fn truncate(millis: i64, unit: Unit, size: i64, zone: &Zone, first_day: i64) -> Result<i64> {
    let overflowed = |code| Code::location(code).error("dateTrunc overflowed");
    let days = unit.months().is_some() || matches!(unit, Unit::Day | Unit::Week);
    if days && size > BIN_UNITS_MAX {
        return Err(Code::location(5439006).error("dateTrunc unsupported binSize value"));
    }
    let floor = |distance: i64, bin: i64| distance.div_euclid(bin) * bin;
    if let Some(months) = unit.months() {
        let bin = size * months;
        let local = zone.local(millis);
        let distance = (local.year - REFERENCE_YEAR) * 12 + local.month - 1;
        let start = floor(distance, bin);
        return Ok(zone.midnight(REFERENCE_YEAR, start + 1, 1));
    }
    let reference_day = to_days(REFERENCE_YEAR, 1, 1);
    if matches!(unit, Unit::Day | Unit::Week) {
        let (bin, reference) = if unit == Unit::Week {
            let shift = (first_day - REFERENCE_DAY_OF_WEEK).rem_euclid(7);
            (size * 7, reference_day + shift)
        } else {
            (size, reference_day)
        };
        let day = zone.local_millis(millis).div_euclid(MILLIS_PER_DAY);
        let start = reference + floor(day - reference, bin);
        return zone.from_parts(start, 0);
    }
    let length = unit.millis().unwrap_or(1);
    let bin = size.checked_mul(length).ok_or_else(|| overflowed(5439002))?;
    let reference = zone.midnight(REFERENCE_YEAR, 1, 1);
    let distance = millis.checked_sub(reference).ok_or_else(|| overflowed(5439000))?;
    millis.checked_sub(distance.rem_euclid(bin)).ok_or_else(|| overflowed(5439001))
}
