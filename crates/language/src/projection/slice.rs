//! `find`'s `$slice`: some of an array's elements, by place.

use crate::describe::type_name;
use bson::spec::ElementType;
use error::{Code, Result};
use std::ops::Range;
use value::{DocumentWriter, Element, Number};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    skip: Option<i64>,
    limit: i64,
}

impl Slice {
    /// `argument` is a number, or an array of the number to skip and the number
    /// to take.
    pub fn parse(argument: Element<'_>) -> Result<Slice> {
        let number = |element: Element<'_>| {
            let number = Number::from_value(element.value())?;
            // Only 32 bits count; what is larger is as good as the largest.
            Some(number.to_i64_saturated().clamp(i32::MIN.into(), i32::MAX.into()))
        };
        if let Some(limit) = number(argument) {
            return Ok(Slice { skip: None, limit });
        }
        if argument.kind != ElementType::Array {
            return Err(Code::location(31273)
                .error("$slice only supports numbers and [skip, limit] arrays"));
        }
        let parts: Vec<Element<'_>> = argument.children().take(3).collect();
        let [skip, limit] = parts[..] else {
            return Err(Code::location(31272)
                .error("$slice array argument should be of form [skip, limit]"));
        };
        let wrong = |code, which: &str, part: Element<'_>| {
            Code::location(code).error(format!(
                "$slice expects the {which} argument to be a number, got {}",
                type_name(part.kind)
            ))
        };
        let skip = number(skip).ok_or_else(|| wrong(31257, "skip", skip))?;
        let limit = number(limit).ok_or_else(|| wrong(31258, "limit", limit))?;
        if limit <= 0 {
            return Err(
                Code::location(31259).error(format!("$slice limit must be positive, got {limit}"))
            );
        }
        Ok(Slice { skip: Some(skip), limit })
    }

    /// Where it begins in an array of `len` elements, and how many it takes.
    fn place(&self, len: usize) -> (usize, usize) {
        let len = len as i64;
        let (start, take) = match self.skip {
            None if self.limit < 0 => ((len + self.limit).max(0), i64::MAX),
            None => (0, self.limit),
            Some(skip) if skip < 0 => ((len + skip).max(0), self.limit),
            Some(skip) => (skip, self.limit),
        };
        let as_count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        (as_count(start), as_count(take))
    }

    /// Which elements of an array of `len` elements it picks.
    pub fn range(&self, len: usize) -> Range<usize> {
        let (start, take) = self.place(len);
        let start = start.min(len);
        start..start.saturating_add(take).min(len)
    }

    /// Writes the elements of `array` that it picks, under `key`.
    pub fn write(&self, array: Element<'_>, key: &str, out: &mut DocumentWriter) {
        let from_end = self.skip.unwrap_or(self.limit) < 0;
        let (start, take) = self.place(if from_end { array.children().count() } else { 0 });
        out.begin_array(key);
        let picked = array.children().skip(start).take(take);
        picked.for_each(|item| out.copy_next(item));
        out.end();
    }
}
