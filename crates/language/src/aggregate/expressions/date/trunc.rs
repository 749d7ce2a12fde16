//! `$dateTrunc`: the beginning of the unit, or of the bin of units, that a date
//! is in. Bins are counted from the year 2000.

use super::civil::{MILLIS_PER_DAY, to_days};
use super::date;
use super::diff::SUNDAY;
use super::unit::{Unit, day_of_week};
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::DateTime;
use error::{Code, Result};

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
        size = bin_size(&arguments)?;
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

fn bin_size(arguments: &Arguments<'_, '_>) -> Result<i64> {
    let Some(size) = coerce::integral64(arguments.get(2)) else {
        return Err(Code::location(5439017).error(format!(
            "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value of type {}",
            coerce::type_name(arguments.get(2))
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
    let too_large = || Code::location(5439006).error("$dateTrunc unit and binSize are too large");
    let floor = |distance: i64, bin: i64| distance.div_euclid(bin) * bin;
    if let Some(months) = unit.months() {
        let bin = size.checked_mul(months).ok_or_else(too_large)?;
        let local = zone.local(millis);
        let distance = (local.year - REFERENCE_YEAR) * 12 + local.month - 1;
        let start = floor(distance, bin);
        return Ok(zone.midnight(REFERENCE_YEAR, start + 1, 1));
    }
    let reference_day = to_days(REFERENCE_YEAR, 1, 1);
    if matches!(unit, Unit::Day | Unit::Week) {
        let (bin, reference) = if unit == Unit::Week {
            let shift = (first_day - REFERENCE_DAY_OF_WEEK).rem_euclid(7);
            (size.checked_mul(7).ok_or_else(too_large)?, reference_day + shift)
        } else {
            (size, reference_day)
        };
        let day = zone.local_millis(millis).div_euclid(MILLIS_PER_DAY);
        let start = reference + floor(day - reference, bin);
        return zone.from_parts(start, 0);
    }
    let bin = unit.millis().and_then(|length| size.checked_mul(length)).ok_or_else(too_large)?;
    let reference = zone.midnight(REFERENCE_YEAR, 1, 1);
    let distance = millis.checked_sub(reference).ok_or_else(too_large)?;
    Ok(reference + floor(distance, bin))
}
