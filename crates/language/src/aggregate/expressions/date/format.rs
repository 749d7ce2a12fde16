//! Dates as text, by a format.

use super::zone::Zone;
use error::{Code, Result};
use std::fmt::Write;

pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const ISO_UTC: &str = "%Y-%m-%dT%H:%M:%S.%LZ";
const ISO_LOCAL: &str = "%Y-%m-%dT%H:%M:%S.%L";

/// The specifiers of `$dateToString`.
const TO_TEXT: &str = "bBdGHjLmMSwuUVYzZ%";
/// The specifiers of `$dateFromString`.
const FROM_TEXT: &str = "bBdGHjLmMSuVYzZ%";

pub fn check_to_text(format: &str) -> Result<()> {
    check(format, TO_TEXT)
}

pub fn check_from_text(format: &str) -> Result<()> {
    check(format, FROM_TEXT)
}

fn check(format: &str, allowed: &str) -> Result<()> {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            continue;
        }
        match characters.next() {
            None => {
                return Err(Code::location(18535).error("Unmatched '%' at end of format string"));
            }
            Some(specifier) if allowed.contains(specifier) => {}
            Some(specifier) => {
                return Err(Code::location(18536)
                    .error(format!("Invalid format character '%{specifier}' in format string")));
            }
        }
    }
    Ok(())
}

/// The format where none is given.
pub fn default(zone: &Zone) -> &'static str {
    if zone.is_utc() { ISO_UTC } else { ISO_LOCAL }
}

/// `2024-01-02T03:04:05.678Z`.
pub fn iso(millis: i64) -> Result<String> {
    format(millis, &Zone::UTC, ISO_UTC)
}

/// `Jan  2 03:04:05`: a date without its year, as timestamps are shown.
pub fn short(millis: i64) -> String {
    let date = Zone::UTC.local(millis);
    let month = MONTHS.get(date.month as usize - 1).copied().unwrap_or_default();
    let (day, hour, minute, second) = (date.day, date.hour, date.minute, date.second);
    format!("{} {day:2} {hour:02}:{minute:02}:{second:02}", &month[..3])
}

/// A date in a format that has been checked.
pub fn format(millis: i64, zone: &Zone, format: &str) -> Result<String> {
    let local = zone.local(millis);
    if !(0..=9999).contains(&local.year) {
        return Err(Code::location(18537).error(format!(
            "$dateToString is only defined on year 0-9999, tried to use year {}",
            local.year
        )));
    }
    let week = local.iso_week();
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let month = MONTHS.get(local.month as usize - 1).copied().unwrap_or_default();
        let written = match characters.next() {
            Some('b') => write!(out, "{}", &month[..3]),
            Some('B') => write!(out, "{month}"),
            Some('d') => write!(out, "{:02}", local.day),
            Some('G') => write!(out, "{:04}", week.year),
            Some('H') => write!(out, "{:02}", local.hour),
            Some('j') => write!(out, "{:03}", local.day_of_year()),
            Some('L') => write!(out, "{:03}", local.millisecond),
            Some('m') => write!(out, "{:02}", local.month),
            Some('M') => write!(out, "{:02}", local.minute),
            Some('S') => write!(out, "{:02}", local.second),
            Some('w') => write!(out, "{}", local.day_of_week()),
            Some('u') => write!(out, "{}", local.iso_day_of_week()),
            Some('U') => write!(out, "{:02}", local.week()),
            Some('V') => write!(out, "{:02}", week.week),
            Some('Y') => write!(out, "{:04}", local.year),
            Some('z') => {
                let minutes = zone.offset(millis) / 60_000;
                let sign = if minutes < 0 { '-' } else { '+' };
                write!(out, "{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
            Some('Z') => write!(out, "{:+}", zone.offset(millis) / 60_000),
            Some(other) => write!(out, "{other}"),
            None => Ok(()),
        };
        // Writing to a string cannot fail.
        let _ = written;
    }
    Ok(out)
}
