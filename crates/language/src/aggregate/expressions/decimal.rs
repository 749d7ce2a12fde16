//! Decimal128 between BSON's encoding (a binary integer coefficient) and the
//! one the arithmetic library works in.

use bson::RawBson;
use dec::{Context, Decimal, Decimal128, Rounding};

/// Bias of the encoded exponent.
const EXPONENT_BIAS: i32 = 6176;
/// The largest coefficient is below this.
const COEFFICIENT_END: u128 = 10u128.pow(34);
/// Digits that a double keeps when it becomes a decimal.
const DOUBLE_DIGITS: i32 = 15;

/// Room for 36 digits: two more than a decimal128 has, so that the transcendental
/// functions round once.
pub type Wide = Decimal<12>;

pub fn decode(value: bson::Decimal128) -> Decimal128 {
    let bits = u128::from_le_bytes(value.bytes());
    let negative = bits >> 127 == 1;
    let mut context = Context::<Decimal128>::default();
    let (coefficient, exponent) = match (bits >> 122) & 0b11111 {
        0b11111 => return Decimal128::NAN,
        0b11110 => {
            let infinity = infinity();
            return if negative { context.minus(infinity) } else { infinity };
        }
        // The other form would hold coefficients that are too large: zero.
        form if form >> 3 == 0b11 => (0, ((bits >> 111) & 0x3fff) as i32 - EXPONENT_BIAS),
        _ => (bits & ((1 << 113) - 1), ((bits >> 113) & 0x3fff) as i32 - EXPONENT_BIAS),
    };
    let coefficient = if coefficient < COEFFICIENT_END { coefficient } else { 0 };
    let mut decoded = context.from_u128(coefficient);
    context.set_exponent(&mut decoded, exponent);
    if negative { negate(decoded) } else { decoded }
}

pub fn encode(value: Decimal128) -> bson::Decimal128 {
    let sign = u128::from(value.is_signed()) << 127;
    let bits = if value.is_nan() {
        0b11111u128 << 122
    } else if value.is_infinite() {
        sign | 0b11110u128 << 122
    } else {
        let exponent = (value.exponent() + EXPONENT_BIAS) as u128;
        sign | exponent << 113 | value.coefficient().unsigned_abs()
    };
    bson::Decimal128::from_bytes(bits.to_le_bytes())
}

pub fn value(value: Decimal128) -> RawBson {
    RawBson::Decimal128(encode(value))
}

/// Flips the sign, of zeros too (which subtraction from zero would not).
pub fn negate(value: Decimal128) -> Decimal128 {
    let mut bytes = value.to_be_bytes();
    bytes[0] ^= 0x80;
    Decimal128::from_be_bytes(bytes)
}

pub fn infinity() -> Decimal128 {
    let mut bytes = [0; 16];
    bytes[0] = 0x78;
    Decimal128::from_be_bytes(bytes)
}

/// A double, rounded to 15 significant digits as MongoDB does.
pub fn from_f64(value: f64) -> Decimal128 {
    if value == 0.0 {
        let zero = Decimal128::from(0);
        return if value.is_sign_negative() { negate(zero) } else { zero };
    }
    if !value.is_finite() {
        return if value.is_nan() {
            Decimal128::NAN
        } else if value > 0.0 {
            infinity()
        } else {
            negate(infinity())
        };
    }
    let text = format!("{value:.*e}", (DOUBLE_DIGITS - 1) as usize);
    text.parse().unwrap_or(Decimal128::NAN)
}

/// A double's exact value, to 34 digits.
pub fn from_f64_exact(value: f64) -> Decimal128 {
    if value == 0.0 || !value.is_finite() {
        return from_f64(value);
    }
    // A double has at most 1,074 places behind the point; 40 digits suffice to
    // round to 34.
    let mut context = Context::<Decimal128>::default();
    match context.parse(format!("{value:.40e}").as_str()) {
        Ok(exact) => {
            let reduced = context.reduce(exact);
            if reduced.exponent() > 0 {
                let mut plain = reduced;
                context.rescale(&mut plain, 0);
                return plain;
            }
            reduced
        }
        Err(_) => Decimal128::NAN,
    }
}

pub fn to_f64(value: bson::Decimal128) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

pub fn dec_to_f64(value: Decimal128) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// The value if it is exactly a 64-bit integer.
pub fn to_i64_exact(value: bson::Decimal128) -> Option<i64> {
    let value = decode(value);
    if !value.is_finite() {
        return None;
    }
    let whole = round_to(value, 0, Rounding::Down);
    let same = Context::<Decimal128>::default().partial_cmp(whole, value);
    if same != Some(std::cmp::Ordering::Equal) {
        return None;
    }
    integer(whole)
}

/// A whole decimal as a 64-bit integer.
pub fn integer(whole: Decimal128) -> Option<i64> {
    let mut coefficient = whole.coefficient();
    let mut exponent = whole.exponent();
    if coefficient == 0 {
        return Some(0);
    }
    while exponent < 0 && coefficient % 10 == 0 {
        coefficient /= 10;
        exponent += 1;
    }
    let scale = 10i128.checked_pow(u32::try_from(exponent).ok()?)?;
    i64::try_from(coefficient.checked_mul(scale)?).ok()
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

    #[test]
    fn integers_are_recognised() {
        for (text, expected) in
            [("5", Some(5)), ("5.0", Some(5)), ("5.5", None), ("1E+2", Some(100)), ("1E+30", None)]
        {
            assert_eq!(to_i64_exact(text.parse().unwrap()), expected, "{text}");
        }
    }
}
