//! Numbers of any type as the integers and doubles that arguments want.

use bson::{Decimal128, RawBsonRef};
use error::{Code, Result};

/// The largest coefficient of a canonical decimal128 has 34 digits.
const COEFFICIENT_END: u128 = 10u128.pow(34);

const EXPONENT_BIAS: i32 = 6176;

/// Cut to an int64: NaN is 0, what is too large is the largest, doubles lose
/// their fraction and decimals are rounded to even. `None` is no number.
pub fn safe_i64(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(value) => Some(i64::from(value)),
        RawBsonRef::Int64(value) => Some(value),
        // `as` saturates, truncates, and takes NaN to 0.
        RawBsonRef::Double(value) => Some(value as i64),
        RawBsonRef::Decimal128(value) => Some(Decimal::read(value).rounded()),
        _ => None,
    }
}

/// As `safe_i64`, cut to an int32.
pub fn safe_i32(value: RawBsonRef<'_>) -> Option<i32> {
    let value = safe_i64(value)?;
    Some(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
}

pub fn safe_f64(value: RawBsonRef<'_>) -> Option<f64> {
    as_f64(value)
}

/// The number as a double, as near as it gets.
pub(super) fn as_f64(value: RawBsonRef<'_>) -> Option<f64> {
    match value {
        RawBsonRef::Int32(value) => Some(f64::from(value)),
        RawBsonRef::Int64(value) => Some(value as f64),
        RawBsonRef::Double(value) => Some(value),
        RawBsonRef::Decimal128(value) => Some(match Decimal::read(value) {
            Decimal::NotANumber => f64::NAN,
            Decimal::Infinite { negative: true } => f64::NEG_INFINITY,
            Decimal::Infinite { negative: false } => f64::INFINITY,
            Decimal::Finite { .. } => value.to_string().parse().unwrap_or(f64::NAN),
        }),
        _ => None,
    }
}

/// The number if it is an int64 by value (code 9).
pub fn exact_i64(value: RawBsonRef<'_>, name: &str) -> Result<i64> {
    let fail =
        |words: &str| Err(Code::FailedToParse.error(format!("{words}: {name}: {}", show(value))));
    match value {
        RawBsonRef::Int32(value) => Ok(i64::from(value)),
        RawBsonRef::Int64(value) => Ok(value),
        RawBsonRef::Double(value) if value.is_nan() => {
            fail("Expected an integer, but found NaN in")
        }
        RawBsonRef::Double(value) if !(-TWO_TO_63..TWO_TO_63).contains(&value) => {
            fail("Cannot represent as a 64-bit integer")
        }
        RawBsonRef::Double(value) if value.fract() != 0.0 => fail("Expected an integer"),
        RawBsonRef::Double(value) => Ok(value as i64),
        RawBsonRef::Decimal128(decimal) => match Decimal::read(decimal) {
            Decimal::NotANumber => fail("Expected an integer, but found NaN in"),
            Decimal::Infinite { .. } => fail("Cannot represent as a 64-bit integer"),
            finite => match finite.exact() {
                Some(value) => Ok(value),
                None => fail("Expected an integer"),
            },
        },
        _ => fail("Expected a number in"),
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// Whether a boolean or number counts as true: all numbers but zero do.
pub fn is_true(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Decimal128(value) => {
            !matches!(Decimal::read(value), Decimal::Finite { coefficient: 0, .. })
        }
        number => as_f64(number).is_some_and(|number| number != 0.0),
    }
}

fn show(value: RawBsonRef<'_>) -> String {
    match value {
        RawBsonRef::Double(value) => value.to_string(),
        RawBsonRef::Decimal128(value) => value.to_string(),
        _ => String::new(),
    }
}

/// A decimal128 taken apart (binary integer encoding: sign 1 bit, exponent 14,
/// coefficient 113; special values by the bits after the sign).
#[derive(Clone, Copy)]
enum Decimal {
    NotANumber,
    Infinite { negative: bool },
    Finite { negative: bool, coefficient: u128, exponent: i32 },
}

impl Decimal {
    fn read(value: Decimal128) -> Decimal {
        let bits = u128::from_le_bytes(value.bytes());
        let negative = bits >> 127 == 1;
        match (bits >> 122) & 0x1f {
            0x1f => return Decimal::NotANumber,
            0x1e => return Decimal::Infinite { negative },
            _ => {}
        }
        // Coefficients with the long form are past 34 digits and count as zero.
        if (bits >> 125) & 3 == 3 {
            return Decimal::Finite { negative, coefficient: 0, exponent: 0 };
        }
        let exponent = ((bits >> 113) & 0x3fff) as i32 - EXPONENT_BIAS;
        let coefficient = bits & ((1 << 113) - 1);
        let coefficient = if coefficient < COEFFICIENT_END { coefficient } else { 0 };
        Decimal::Finite { negative, coefficient, exponent }
    }

    fn rounded(self) -> i64 {
        let (negative, coefficient, exponent) = match self {
            Decimal::NotANumber => return 0,
            Decimal::Infinite { negative: true } => return i64::MIN,
            Decimal::Infinite { negative: false } => return i64::MAX,
            Decimal::Finite { negative, coefficient, exponent } => {
                (negative, coefficient, exponent)
            }
        };
        let magnitude = if coefficient == 0 {
            0
        } else if exponent >= 0 {
            power(exponent).and_then(|power| coefficient.checked_mul(power)).unwrap_or(u128::MAX)
        } else {
            match power(-exponent) {
                None => 0,
                Some(power) => {
                    let (whole, rest) = (coefficient / power, coefficient % power);
                    let up = match (rest * 2).cmp(&power) {
                        std::cmp::Ordering::Less => false,
                        std::cmp::Ordering::Equal => whole % 2 == 1,
                        std::cmp::Ordering::Greater => true,
                    };
                    whole + u128::from(up)
                }
            }
        };
        signed(negative, magnitude).unwrap_or(if negative { i64::MIN } else { i64::MAX })
    }

    /// The value if it has no fraction and fits.
    fn exact(self) -> Option<i64> {
        let Decimal::Finite { negative, coefficient, exponent } = self else { return None };
        let magnitude = if coefficient == 0 {
            0
        } else if exponent >= 0 {
            coefficient.checked_mul(power(exponent)?)?
        } else {
            let power = power(-exponent)?;
            if coefficient % power != 0 {
                return None;
            }
            coefficient / power
        };
        signed(negative, magnitude)
    }
}

fn power(exponent: i32) -> Option<u128> {
    10u128.checked_pow(u32::try_from(exponent).ok()?)
}

fn signed(negative: bool, magnitude: u128) -> Option<i64> {
    let magnitude = i128::try_from(magnitude).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
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
