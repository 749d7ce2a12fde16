//! Decimal128 arithmetic: the library's type on the inside, BSON's at the edges.

use bson::RawBson;
use dec::{Context, Decimal, Decimal128, Rounding};
use value::decimal::Decimal as Parts;

/// Room for 36 digits: two more than a decimal128 has, so that the transcendental
/// functions round once.
pub type Wide = Decimal<12>;

pub use value::decimal::{from_dec as encode, to_dec as decode};

pub fn value(value: Decimal128) -> RawBson {
    RawBson::Decimal128(encode(value))
}

/// Flips the sign, of zeros too (which subtraction from zero would not).
pub fn negate(value: Decimal128) -> Decimal128 {
    decode(Parts::read(encode(value)).negate().write())
}

pub fn infinity() -> Decimal128 {
    decode(Parts::Infinity { negative: false }.write())
}

/// A double, rounded to 15 significant digits as MongoDB does.
pub fn from_f64(value: f64) -> Decimal128 {
    decode(Parts::from_f64(value).write())
}

/// A double's exact value, to 34 digits.
pub fn from_f64_exact(value: f64) -> Decimal128 {
    decode(Parts::from_f64_exact(value).write())
}

pub fn to_f64(value: Decimal128) -> f64 {
    Parts::read(encode(value)).to_f64()
}

/// A whole decimal as a 64-bit integer.
pub fn integer(value: Decimal128) -> Option<i64> {
    Parts::read(encode(value)).to_i128_exact().and_then(|value| i64::try_from(value).ok())
}

/// Rounds to a number of places behind the point. A value that has no digits
/// there, or is not finite, stays what it is.
pub fn round_to(value: Decimal128, places: i32, rounding: Rounding) -> Decimal128 {
    if !value.is_finite() || value.exponent() >= -places {
        return value;
    }
    let mut context = Context::<Decimal128>::default();
    context.set_rounding(rounding);
    let mut unit = Decimal128::from(1);
    context.set_exponent(&mut unit, -places);
    context.quantize(value, unit)
}

/// As `round_to`, and with exactly so many places where the digits suffice.
pub fn quantize(value: Decimal128, places: i32, rounding: Rounding) -> Decimal128 {
    if !value.is_finite() {
        return value;
    }
    let mut context = Context::<Decimal128>::default();
    context.set_rounding(rounding);
    let mut unit = Decimal128::from(1);
    context.set_exponent(&mut unit, -places);
    let quantized = context.quantize(value, unit);
    if quantized.is_nan() { value } else { quantized }
}

/// A decimal128 of a wider decimal, rounded.
pub fn narrow(value: &Wide) -> Decimal128 {
    let mut context = Context::<Wide>::default();
    if context.set_precision(34).is_err() {
        return Decimal128::NAN;
    }
    let mut rounded = *value;
    context.plus(&mut rounded);
    rounded.to_decimal128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_inverse() {
        for text in [
            "0",
            "-0",
            "1",
            "-1",
            "1.10",
            "0E+3",
            "9999999999999999999999999999999999",
            "1E+6111",
            "1E-6176",
            "-123.456E-10",
            "NaN",
            "Infinity",
            "-Infinity",
        ] {
            let before: bson::Decimal128 = text.parse().unwrap();
            assert_eq!(encode(decode(before)), before, "{text}");
            assert_eq!(decode(before).to_string(), before.to_string(), "{text}");
        }
    }

    #[test]
    fn doubles_keep_fifteen_digits() {
        assert_eq!(from_f64(0.1).to_string(), "0.100000000000000");
        assert_eq!(from_f64(2.5).to_string(), "2.50000000000000");
        assert_eq!(from_f64(0.0).to_string(), "0");
        assert_eq!(from_f64(f64::NEG_INFINITY).to_string(), "-Infinity");
    }
}
