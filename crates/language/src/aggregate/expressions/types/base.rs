//! Whole numbers as text in base 2, 8, 10 or 16.

use super::conversion::failure;
use crate::describe;
use error::Result;
use value::Number;

pub fn to_text(number: Number, base: u32) -> Result<String> {
    let Some(whole) = number.to_i64_exact() else {
        return Err(failure(format!(
            "Base conversion is not supported for non-integers: {}",
            describe::value(number.to_ref())
        )));
    };
    let sign = if whole < 0 { "-" } else { "" };
    let digits = whole.unsigned_abs();
    Ok(match base {
        2 => format!("{sign}{digits:b}"),
        8 => format!("{sign}{digits:o}"),
        16 => format!("{sign}{digits:X}"),
        _ => format!("{sign}{digits}"),
    })
}

pub fn from_text(text: &str, base: u32) -> Result<i64> {
    i64::from_str_radix(text, base).map_err(|_| failure(format!("Failed to parse number '{text}'")))
}
