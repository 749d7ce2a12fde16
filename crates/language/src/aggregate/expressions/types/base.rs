//! Whole numbers as text in base 2, 8, 10 or 16.

use super::conversion::failure;
use crate::describe;
use error::Result;
use value::Number;

pub fn to_text(number: Number, base: u32) -> Result<String> {
    // What is no integer by its type must be one of 32 bits.
    let whole = match number {
        Number::Int32(_) | Number::Int64(_) => number.to_i64_exact(),
        Number::Double(_) | Number::Decimal(_) => number.to_i32_exact().map(i64::from),
    };
    let Some(whole) = whole else {
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
    let wrong = || failure(format!("Failed to parse number '{text}'"));
    let (negative, digits) = signed(text);
    // The prefix of base 16 is taken behind a sign, and only there.
    let digits = match hexadecimal(digits) {
        Some(digits) if base == 16 && digits.len() + 3 == text.len() => digits,
        Some(_) => return Err(wrong()),
        None => digits,
    };
    if !digits.starts_with(|first: char| first.is_digit(base)) {
        return Err(wrong());
    }
    let sign = if negative { "-" } else { "" };
    i64::from_str_radix(&format!("{sign}{digits}"), base).map_err(|_| wrong())
}

/// A double written in base 16 behind a sign, as C reads it: `-0x1A`, `+0x1.8p3`.
pub fn hexadecimal_double(text: &str) -> Option<f64> {
    let (negative, rest) = signed(text);
    let rest = hexadecimal(rest).filter(|digits| digits.len() + 3 == text.len())?;
    let (mantissa, exponent) = match rest.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value.mul_add(16.0, f64::from(digit.to_digit(16)?));
    }
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    let value = value * 2.0_f64.powi(shift);
    value.is_finite().then_some(if negative { -value } else { value })
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// What follows `0x`.
fn hexadecimal(digits: &str) -> Option<&str> {
    digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_hexadecimal_is_taken_behind_a_sign() {
        for (text, number) in [("-0x1A", Some(-26)), ("+0x1a", Some(26)), ("+1A", Some(26))] {
            assert_eq!(from_text(text, 16).ok(), number, "{text}");
        }
        for text in ["0x1A", "0X1A", "-0x", "--1", "+-1", "", "-", " 1", "1 ", "1_0"] {
            assert!(from_text(text, 16).is_err(), "{text}");
        }
        assert!(from_text("-0x1", 10).is_err());
        assert_eq!(from_text("-8000000000000000", 16).ok(), Some(i64::MIN));
    }

    #[test]
    fn doubles_are_read_in_hexadecimal_behind_a_sign() {
        for (text, number) in [
            ("-0x1A", Some(-26.0)),
            ("+0X1.8p1", Some(3.0)),
            ("-0x.8", Some(-0.5)),
            ("+0x1p-3", Some(0.125)),
            ("0x1A", None),
            ("-0x", None),
            ("-0xg", None),
            ("-0x1p", None),
            ("-0x1p9999", None),
        ] {
            assert_eq!(hexadecimal_double(text), number, "{text}");
        }
    }
}
