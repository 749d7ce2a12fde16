//! Dates out of text: by a format, or in the common ways of writing them.

use super::civil::{days_in_month, iso_to_days, to_days};
use super::format::MONTHS;
use super::zone::{Zone, parse_offset};
use error::{Code, Error, Result};

/// What has been read of a date.
#[derive(Debug, Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    millisecond: Option<i64>,
    /// Milliseconds east of UTC.
    offset: Option<i64>,
}

/// The rest of the text.
struct Cursor<'t> {
    rest: &'t str,
}

fn failure(text: &str, why: &str) -> Error {
    Code::ConversionFailure.error(format!("Error parsing date string '{text}'; {why}"))
}

/// A date in a format that has been checked.
pub fn parse_format(text: &str, format: &str, zone: &Zone) -> Result<i64> {
    let mut cursor = Cursor { rest: text };
    let mut parts = Parts::default();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        let read = if character == '%' {
            match characters.next() {
                Some(specifier) => cursor.specifier(specifier, &mut parts),
                None => None,
            }
        } else {
            cursor.literal(character)
        };
        if read.is_none() {
            return Err(failure(text, "it does not match the format"));
        }
    }
    if !cursor.rest.is_empty() {
        return Err(failure(text, "Trailing data"));
    }
    parts.instant(text, zone)
}

/// A date in one of the common ways of writing dates.
pub fn parse_text(text: &str, zone: &Zone) -> Result<i64> {
    let trimmed = text.trim();
    let mut cursor = Cursor { rest: trimmed };
    let mut parts = Parts::default();
    let read = cursor.date(&mut parts).and_then(|()| cursor.time(&mut parts));
    if read.is_none() || !cursor.rest.is_empty() {
        return Err(failure(text, "it is not written in a known way"));
    }
    parts.instant(text, zone)
}

impl Cursor<'_> {
    fn specifier(&mut self, specifier: char, parts: &mut Parts) -> Option<()> {
        match specifier {
            'b' => parts.month = Some(self.month(true)?),
            'B' => parts.month = Some(self.month(false)?),
            'd' => parts.day = Some(self.digits(2)?),
            'G' => parts.iso_year = Some(self.digits(4)?),
            'H' => parts.hour = Some(self.digits(2)?),
            'j' => parts.day_of_year = Some(self.digits(3)?),
            'L' => parts.millisecond = Some(self.digits(3)?),
            'm' => parts.month = Some(self.digits(2)?),
            'M' => parts.minute = Some(self.digits(2)?),
            'S' => parts.second = Some(self.digits(2)?),
            'u' => parts.iso_day = Some(self.digits(1)?),
            'V' => parts.iso_week = Some(self.digits(2)?),
            'Y' => parts.year = Some(self.digits(4)?),
            'z' => parts.offset = Some(self.offset()?),
            'Z' => parts.offset = Some(self.minutes_offset()?),
            '%' => self.literal('%')?,
            _ => return None,
        }
        Some(())
    }

    fn literal(&mut self, character: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(character)?;
        Some(())
    }

    /// Up to so many digits, at least one.
    fn digits(&mut self, most: usize) -> Option<i64> {
        let length = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        let value = digits.parse().ok()?;
        self.rest = rest;
        Some(value)
    }

    fn month(&mut self, short: bool) -> Option<i64> {
        for (at, name) in MONTHS.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            if self.rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[name.len()..];
                return Some(at as i64 + 1);
            }
        }
        None
    }

    /// A month's name in full or short, a dot behind it or not.
    fn month_name(&mut self) -> Option<i64> {
        let month = self.month(false).or_else(|| self.month(true))?;
        let _ = self.literal('.');
        Some(month)
    }

    /// `±HHMM`, `±HH:MM`, `±HH`, `Z`, `UTC` or `GMT`.
    fn offset(&mut self) -> Option<i64> {
        for name in ["UTC", "GMT", "utc", "gmt", "Z", "z"] {
            if let Some(rest) = self.rest.strip_prefix(name) {
                self.rest = rest;
                return Some(0);
            }
        }
        for length in [6, 5, 3] {
            if let Some(offset) = self.rest.get(..length).and_then(parse_offset) {
                self.rest = &self.rest[length..];
                return Some(offset);
            }
        }
        None
    }

    fn minutes_offset(&mut self) -> Option<i64> {
        let sign = if self.literal('+').is_some() { 1 } else { self.literal('-').map(|()| -1)? };
        Some(sign * self.digits(4)? * 60_000)
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', ',']);
    }

    fn date(&mut self, parts: &mut Parts) -> Option<()> {
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.month_first(parts);
        }
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        match length {
            // 20240102
            8 => {
                parts.year = Some(self.digits(4)?);
                parts.month = Some(self.digits(2)?);
                parts.day = Some(self.digits(2)?);
            }
            // 2024-01-02, 2024/01/02, 2024-W01-2, 2024-002
            4 => {
                parts.year = Some(self.digits(4)?);
                let separator = if self.literal('/').is_some() { '/' } else { '-' };
                if separator == '-' {
                    self.literal('-')?;
                }
                if self.literal('W').is_some() {
                    parts.iso_year = parts.year.take();
                    parts.iso_week = Some(self.digits(2)?);
                    let day = self.literal('-').and_then(|()| self.digits(1));
                    parts.iso_day = Some(day.unwrap_or(1));
                    return Some(());
                }
                parts.month = Some(self.digits(2)?);
                self.literal(separator)?;
                parts.day = Some(self.digits(2)?);
            }
            // 01/02/2024, 2 January 2024, 2-Jan-2024
            1 | 2 => {
                let first = self.digits(2)?;
                if self.literal('/').is_some() {
                    parts.month = Some(first);
                    parts.day = Some(self.digits(2)?);
                    self.literal('/')?;
                    parts.year = Some(self.digits(4)?);
                } else {
                    parts.day = Some(first);
                    self.rest = self.rest.trim_start_matches([' ', '-', '.']);
                    parts.month = Some(self.month_name()?);
                    self.rest = self.rest.trim_start_matches([' ', '-', '.', ',']);
                    parts.year = Some(self.digits(4)?);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// `January 2, 2024`; a day of the week may stand before it.
    fn month_first(&mut self, parts: &mut Parts) -> Option<()> {
        const DAYS: [&str; 7] =
            ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        for name in DAYS.iter().flat_map(|name| [*name, &name[..3]]) {
            if let Some(rest) = self.rest.strip_prefix(name) {
                self.rest = rest;
                self.spaces();
                return self.date(parts);
            }
        }
        parts.month = Some(self.month_name()?);
        self.spaces();
        parts.day = Some(self.digits(2)?);
        for ending in ["st", "nd", "rd", "th"] {
            self.rest = self.rest.strip_prefix(ending).unwrap_or(self.rest);
        }
        self.spaces();
        parts.year = Some(self.digits(4)?);
        Some(())
    }

    /// A time and a zone, both of which may be left out.
    fn time(&mut self, parts: &mut Parts) -> Option<()> {
        if self.literal('T').is_none() && self.literal('t').is_none() {
            self.spaces();
        }
        if self.rest.is_empty() {
            return Some(());
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let plain = self.rest.bytes().take_while(u8::is_ascii_digit).count() >= 4;
            parts.hour = Some(self.digits(2)?);
            if !plain {
                self.literal(':')?;
            }
            parts.minute = Some(self.digits(2)?);
            let second = if plain {
                self.rest.starts_with(|c: char| c.is_ascii_digit())
            } else {
                self.literal(':').is_some()
            };
            if second {
                parts.second = Some(self.digits(2)?);
                if self.literal('.').is_some() || self.literal(',').is_some() {
                    parts.millisecond = Some(self.fraction()?);
                }
            }
            self.spaces();
            self.half_day(parts);
        }
        self.spaces();
        if !self.rest.is_empty() {
            parts.offset = Some(self.offset()?);
        }
        Some(())
    }

    /// Digits behind the point as milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        format!("{digits:0<3}").get(..3)?.parse().ok().filter(|_| length > 0)
    }

    fn half_day(&mut self, parts: &mut Parts) {
        for (name, later) in [("am", 0), ("pm", 12)] {
            if self.rest.get(..2).is_some_and(|head| head.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[2..];
                parts.hour = parts.hour.map(|hour| hour % 12 + later);
            }
        }
    }
}

impl Parts {
    fn instant(&self, text: &str, zone: &Zone) -> Result<i64> {
        let incomplete = || {
            Code::ConversionFailure.error(format!(
                "an incomplete date/time string has been found, with elements missing: \"{text}\""
            ))
        };
        if self.offset.is_some() && !zone.is_utc() {
            return Err(Code::ConversionFailure.error(
                "you cannot pass in a date/time string with time zone information together with a timezone argument",
            ));
        }
        let within = |value: Option<i64>, least: i64, most: i64| match value {
            Some(value) if !(least..=most).contains(&value) => {
                Err(failure(text, "the parsed date was invalid"))
            }
            value => Ok(value),
        };
        let days = if let Some(year) = self.iso_year {
            let week = within(self.iso_week, 1, 53)?.ok_or_else(incomplete)?;
            iso_to_days(year, week, within(self.iso_day, 1, 7)?.ok_or_else(incomplete)?)
        } else {
            let year = self.year.ok_or_else(incomplete)?;
            if let Some(day) = within(self.day_of_year, 1, 366)? {
                to_days(year, 1, 1) + day - 1
            } else {
                let month = within(self.month, 1, 12)?.ok_or_else(incomplete)?;
                let most = days_in_month(year, month);
                to_days(year, month, within(self.day, 1, most)?.ok_or_else(incomplete)?)
            }
        };
        let time = within(self.hour, 0, 24)?.unwrap_or(0) * 3_600_000
            + within(self.minute, 0, 59)?.unwrap_or(0) * 60_000
            + within(self.second, 0, 60)?.unwrap_or(0) * 1000
            + self.millisecond.unwrap_or(0);
        match self.offset {
            Some(offset) => Zone::Fixed(offset).from_parts(days, time),
            None => zone.from_parts(days, time),
        }
    }
}
