//! Numbers of any type as the integers and doubles that arguments want.

use bson::RawBsonRef;
use error::{Code, Result};
use value::number::Number;

/// Cut to an int64: NaN is 0, what is too large is the largest, doubles lose
/// their fraction and decimals are rounded to even. `None` is no number.
pub fn safe_i64(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        // `as` saturates, truncates, and takes NaN to 0.
        RawBsonRef::Double(value) => Some(value as i64),
        value => {
            let number = Number::from_value(value)?;
            let rounded = || number.to_f64().round_ties_even() as i64;
            Some(number.to_i64_exact().unwrap_or_else(rounded))
        }
    }
}

/// As `safe_i64`, cut to an int32.
pub fn safe_i32(value: RawBsonRef<'_>) -> Option<i32> {
    let value = safe_i64(value)?;
    Some(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
}

pub fn safe_f64(value: RawBsonRef<'_>) -> Option<f64> {
    Number::from_value(value).map(Number::to_f64)
}

/// The number if it is an int64 by value (code 9).
pub fn exact_i64(value: RawBsonRef<'_>, name: &str) -> Result<i64> {
    let fail = |words: &str| Err(Code::FailedToParse.error(format!("{words}: {name}")));
    let Some(number) = Number::from_value(value) else { return fail("Expected a number in") };
    match number.to_i64_exact() {
        Some(value) => Ok(value),
        None if number.is_nan() => fail("Expected an integer, but found NaN in"),
        None if number.is_integral() || number.is_infinite() => {
            fail("Cannot represent as a 64-bit integer")
        }
        None => fail("Expected an integer"),
    }
}

/// Whether a boolean or number counts as true: all numbers but zero do.
pub fn is_true(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        value => Number::from_value(value).is_some_and(|number| !number.is_zero()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> RawBsonRef<'static> {
        RawBsonRef::Decimal128(text.parse().unwrap())
    }

    #[test]
    fn numbers_are_cut_to_an_integer() {
        let cases = [
            (RawBsonRef::Int32(-3), -3),
            (RawBsonRef::Double(1.9), 1),
            (RawBsonRef::Double(-1.9), -1),
            (RawBsonRef::Double(f64::NAN), 0),
            (RawBsonRef::Double(1e300), i64::MAX),
            (RawBsonRef::Double(f64::NEG_INFINITY), i64::MIN),
            (decimal("1.5"), 2),
            (decimal("2.5"), 2),
            (decimal("-2.51"), -3),
            (decimal("1E3"), 1000),
            (decimal("1E30"), i64::MAX),
            (decimal("-1E6000"), i64::MIN),
            (decimal("1E-6000"), 0),
            (decimal("NaN"), 0),
            (decimal("-Infinity"), i64::MIN),
        ];
        for (value, expected) in cases {
            assert_eq!(safe_i64(value), Some(expected), "{value:?}");
        }
        assert_eq!(safe_i64(RawBsonRef::String("1")), None);
        assert_eq!(safe_i32(RawBsonRef::Int64(1 << 40)), Some(i32::MAX));
    }

    #[test]
    fn an_exact_integer_has_no_fraction() {
        assert_eq!(exact_i64(decimal("10.00"), "x").unwrap(), 10);
        assert_eq!(exact_i64(RawBsonRef::Double(-3.0), "x").unwrap(), -3);
        for value in [
            RawBsonRef::Double(0.5),
            RawBsonRef::Double(f64::NAN),
            RawBsonRef::Double(1e19),
            decimal("1.5"),
            decimal("1E40"),
        ] {
            assert_eq!(exact_i64(value, "x").unwrap_err().code(), Code::FailedToParse, "{value:?}");
        }
    }

    #[test]
    fn every_number_but_zero_is_true() {
        for value in
            [RawBsonRef::Double(f64::NAN), decimal("NaN"), decimal("0.1"), RawBsonRef::Int32(-1)]
        {
            assert!(is_true(value), "{value:?}");
        }
        for value in [
            RawBsonRef::Double(-0.0),
            decimal("0E+3"),
            RawBsonRef::Int64(0),
            RawBsonRef::Boolean(false),
        ] {
            assert!(!is_true(value), "{value:?}");
        }
    }
}
