//! Time zones: by IANA name, or by an offset from UTC.

use super::civil::{Civil, MILLIS_PER_DAY, to_days};
use crate::aggregate::expressions::{Arguments, Node, coerce};
use bson::RawBsonRef;
use error::{Code, Result};
use jiff::Timestamp;
use jiff::tz::TimeZone;

#[derive(Debug, Clone)]
pub enum Zone {
    /// Milliseconds east of UTC.
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    pub const UTC: Zone = Zone::Fixed(0);

    pub fn parse(name: &str) -> Result<Zone> {
        if name == "UTC" {
            return Ok(Zone::UTC);
        }
        if let Some(offset) = parse_offset(name) {
            return Ok(Zone::Fixed(offset));
        }
        // The database finds names whatever their case; MongoDB does not.
        match TimeZone::get(name) {
            Ok(zone) if zone.iana_name() == Some(name) => Ok(Zone::Named(zone)),
            _ => Err(Code::location(40485)
                .error(format!("unrecognized time zone identifier: \"{name}\""))),
        }
    }

    pub fn is_utc(&self) -> bool {
        matches!(self, Zone::Fixed(0))
    }

    /// The zone of an operand that may be left out; `None` where it is null.
    pub fn of(arguments: &Arguments<'_, '_>, at: usize) -> Result<Option<Zone>> {
        if !arguments.given(at) {
            return Ok(Some(Zone::UTC));
        }
        Zone::of_value(arguments.get(at))
    }

    /// The zone a value names; `None` where it is null.
    pub fn of_value(value: Option<RawBsonRef<'_>>) -> Result<Option<Zone>> {
        match value {
            value if coerce::is_nullish(value) => Ok(None),
            Some(RawBsonRef::String(name)) => Zone::parse(name).map(Some),
            other => Err(Code::location(40517).error(format!(
                "timezone must evaluate to a string, found {}",
                coerce::type_name(other)
            ))),
        }
    }

    /// Finds a constant that names no zone.
    pub fn check(operand: Option<&Node>) -> Result<()> {
        match operand {
            Some(node) if node.is_constant() => Zone::of_value(node.constant()).map(drop),
            _ => Ok(()),
        }
    }

    /// How far the zone is from UTC at an instant, in milliseconds.
    pub fn offset(&self, millis: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Named(zone) => i64::from(zone.to_offset(timestamp(millis)).seconds()) * 1000,
        }
    }

    pub fn local(&self, millis: i64) -> Civil {
        Civil::from_millis(self.local_millis(millis))
    }

    /// The local time at an instant, as if it were UTC.
    pub fn local_millis(&self, millis: i64) -> i64 {
        millis.saturating_add(self.offset(millis))
    }

    /// The instant of a local time. One that is skipped is moved forward, of
    /// one that comes twice the first is meant.
    pub fn instant(&self, local: i64) -> i64 {
        let zone = match self {
            Zone::Fixed(offset) => return local.saturating_sub(*offset),
            Zone::Named(zone) => zone,
        };
        let civil = Civil::from_millis(local);
        let date_time = i16::try_from(civil.year).ok().and_then(|year| {
            jiff::civil::DateTime::new(
                year,
                civil.month as i8,
                civil.day as i8,
                civil.hour as i8,
                civil.minute as i8,
                civil.second as i8,
                civil.millisecond as i32 * 1_000_000,
            )
            .ok()
        });
        match date_time.and_then(|civil| zone.to_ambiguous_timestamp(civil).compatible().ok()) {
            Some(instant) => instant.as_millisecond(),
            None => local.saturating_sub(self.offset(local)),
        }
    }

    /// The instant of a local date and time; fields may overflow into others.
    pub fn from_parts(&self, days: i64, millis_of_day: i64) -> Result<i64> {
        let local = days
            .checked_mul(MILLIS_PER_DAY)
            .and_then(|millis| millis.checked_add(millis_of_day))
            .ok_or_else(|| Code::DurationOverflow.error("date is out of range"))?;
        Ok(self.instant(local))
    }

    /// The instant a year, month and day begin.
    pub fn midnight(&self, year: i64, month: i64, day: i64) -> i64 {
        self.instant(to_days(year, month, day).saturating_mul(MILLIS_PER_DAY))
    }
}

/// The nearest instant that the time zone database covers.
fn timestamp(millis: i64) -> Timestamp {
    let clamped = millis.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
    Timestamp::from_millisecond(clamped).unwrap_or_default()
}

/// `±HH`, `±HHMM` or `±HH:MM`, in milliseconds.
pub fn parse_offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = text.get(1..)?;
    let (hours, minutes) = match rest.len() {
        2 => (rest, "0"),
        4 => rest.split_at(2),
        5 => rest.split_once(':')?,
        _ => return None,
    };
    if hours.len() != 2 || !rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (hours * 3_600_000 + minutes * 60_000))
}
