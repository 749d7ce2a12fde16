//! Decimal128 arithmetic: the library's type on the inside, BSON's at the edges.

use bson::RawBson;
use dec::{Context, Decimal, Decimal128, Rounding};
use std::sync::LazyLock;
use value::decimal::Decimal as Parts;

/// Room for 75 digits, three a unit: more than twice what a decimal128 has, so that the
/// transcendental functions round once.
pub type Wide = Decimal<25>;

/// Closer to one than this, a logarithm is computed by its series: the digits that a
/// number shares with one would be lost otherwise.
const NEAR_ONE: &str = "1E-6";

/// Enough terms of that series for every digit.
const NEAR_ONE_TERMS: i32 = 6;

const LN_10: &str = "2.3025850929940456840179914546843642076011014886287729760333279";

/// The digits of the binary numbers that MongoDB's library computes with.
const BINARY_DIGITS: i32 = 113;

/// How often the exponent of a binary number is guessed.
const GUESSES_MAX: usize = 16;

/// The largest exponent that the library computes powers and logarithms with.
const TRANSCENDENTAL_EXPONENT_MAX: isize = 999_999;

/// The least exponent of a decimal128.
const EXPONENT_MIN: i32 = -6176;

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

/// A decimal written in digits, rounded to those there is room for; `None` where it is no
/// number or out of range.
pub fn parse(text: &str) -> Option<Decimal128> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
    let special = matches!(digits, "inf" | "infinity" | "nan");
    if !special && !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let mut context = Context::<Decimal128>::default();
    let value = context.parse(lower.as_str()).ok()?;
    let status = context.status();
    (!status.overflow() && !status.underflow()).then_some(value)
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

/// A context for powers and logarithms, which the library refuses to compute where the
/// exponents may be larger.
pub fn transcendental() -> Context<Wide> {
    let mut context = Context::<Wide>::default();
    // Both bounds are in the range the library knows.
    let _ = context.set_max_exponent(TRANSCENDENTAL_EXPONENT_MAX);
    let _ = context.set_min_exponent(-TRANSCENDENTAL_EXPONENT_MAX);
    context
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

/// As `round_to`, and with exactly so many places where the digits suffice, else with as
/// many digits as there are.
pub fn quantize(value: Decimal128, places: i32, rounding: Rounding) -> Decimal128 {
    if value.is_infinite() {
        return value;
    }
    let quantized = to_places(value, places, rounding);
    if quantized.is_nan() { normalize(value) } else { quantized }
}

/// A whole number; NaN where the digits do not suffice, and of an infinity.
pub fn whole(value: Decimal128, rounding: Rounding) -> Decimal128 {
    to_places(value, 0, rounding)
}

fn to_places(value: Decimal128, places: i32, rounding: Rounding) -> Decimal128 {
    let mut context = Context::<Decimal128>::default();
    context.set_rounding(rounding);
    let mut unit = Decimal128::from(1);
    context.set_exponent(&mut unit, -places);
    context.quantize(value, unit)
}

/// The same value with all 34 digits, zeros at the end included.
pub fn normalize(value: Decimal128) -> Decimal128 {
    let mut context = Context::<Decimal128>::default();
    let mut zero = Decimal128::ZERO;
    context.set_exponent(&mut zero, EXPONENT_MIN);
    context.add(value, zero)
}

/// The remainder, exact however far apart the operands are, with the sign of the first.
pub fn remainder(a: Decimal128, b: Decimal128) -> Decimal128 {
    let (
        Parts::Finite { negative, coefficient, exponent },
        Parts::Finite { coefficient: divisor, exponent: divisor_exponent, .. },
    ) = (Parts::read(encode(a)), Parts::read(encode(b)))
    else {
        return if a.is_finite() && b.is_infinite() { a } else { Decimal128::NAN };
    };
    let rest = |coefficient: u128, exponent: i32| {
        decode(Parts::Finite { negative, coefficient, exponent }.write())
    };
    if divisor == 0 {
        return Decimal128::NAN;
    }
    if exponent >= divisor_exponent {
        let mut left = coefficient % divisor;
        for _ in divisor_exponent..exponent {
            left = left * 10 % divisor;
        }
        return rest(left, divisor_exponent);
    }
    let scale = 10u128.checked_pow(exponent.abs_diff(divisor_exponent));
    match scale.and_then(|scale| divisor.checked_mul(scale)) {
        Some(divisor) => rest(coefficient % divisor, exponent),
        // The divisor is the greater.
        None => a,
    }
}

/// A transcendental function as MongoDB's library computes it: by way of a binary number,
/// which shows in the last digit.
pub fn through_binary(value: Decimal128, function: impl FnOnce(Wide) -> Wide) -> Decimal128 {
    let result = binary(function(binary(Wide::from(value))));
    // A zero that was computed has no digits behind the point.
    if result.is_zero() && !value.is_zero() {
        return if result.is_negative() { negate(Decimal128::ZERO) } else { Decimal128::ZERO };
    }
    narrow(&result)
}

/// The nearest number with 113 binary digits.
fn binary(value: Wide) -> Wide {
    static BOUNDS: LazyLock<(Wide, Wide)> =
        LazyLock::new(|| (two(BINARY_DIGITS - 1), two(BINARY_DIGITS)));
    if !value.is_finite() || value.is_zero() {
        return value;
    }
    let mut context = transcendental();
    context.set_rounding(Rounding::HalfEven);
    let (least, end) = &*BOUNDS;
    let magnitude = if value.is_negative() { -value } else { value };
    let tens = magnitude.exponent() + magnitude.digits() as i32 - 1;
    let shift = BINARY_DIGITS - 1 - (f64::from(tens) * std::f64::consts::LOG2_10) as i32;
    let mut scale = two(shift);
    // The first guess knows the power of ten alone, and is off by a few at most.
    for _ in 0..GUESSES_MAX {
        let mut whole = magnitude * scale;
        context.round(&mut whole);
        if whole < *least {
            scale *= Wide::from(2);
        } else if whole >= *end {
            scale /= Wide::from(2);
        } else {
            let nearest = whole / scale;
            return if value.is_negative() { -nearest } else { nearest };
        }
    }
    // Farther from one than any decimal128: no power of two leads there.
    value
}

fn two(power: i32) -> Wide {
    let mut scale = Wide::from(2);
    transcendental().pow(&mut scale, &Wide::from(power));
    scale
}

/// A constant, parsed.
pub fn constant(text: &str) -> Wide {
    text.parse().unwrap_or_else(|_| Wide::nan())
}

pub fn exp(mut value: Wide) -> Wide {
    transcendental().exp(&mut value);
    value
}

/// The natural logarithm: that of a double, whose digits one step of Halley's method
/// triples. The library's own takes ten times as long.
pub fn ln(mut value: Wide) -> Wide {
    let one = Wide::from(1);
    if !value.is_finite() || value.is_zero() || value.is_negative() {
        transcendental().ln(&mut value);
        return value;
    }
    let above = value - one;
    let distance = if above.is_negative() { -above } else { above };
    if distance < constant(NEAR_ONE) {
        return ln_near_one(above);
    }
    let tens = value.exponent() + value.digits() as i32 - 1;
    transcendental().scaleb(&mut value, &Wide::from(-tens));
    let guess = value.to_string().parse::<f64>().map_or(0.0, f64::ln);
    let guess = constant(&guess.to_string());
    let reached = exp(guess);
    let step = Wide::from(2) * (value - reached) / (value + reached);
    guess + step + Wide::from(tens) * constant(LN_10)
}

pub fn log10(value: Wide) -> Wide {
    ln(value) / constant(LN_10)
}

/// The logarithm of a number that is so much above one.
fn ln_near_one(above: Wide) -> Wide {
    let quotient = above / (Wide::from(2) + above);
    let square = quotient * quotient;
    let (mut sum, mut power) = (quotient, quotient);
    for term in 1..NEAR_ONE_TERMS {
        power *= square;
        sum += power / Wide::from(2 * term + 1);
    }
    sum + sum
}

/// A decimal128 of a wider decimal, rounded.
pub fn narrow(value: &Wide) -> Decimal128 {
    // Rounding would drop the sign of zero.
    if value.is_zero() {
        return value.to_decimal128();
    }
    let mut context = Context::<Wide>::default();
    context.set_rounding(Rounding::HalfEven);
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
