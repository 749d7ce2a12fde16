//! Exact quotients rounded once, half to even.

use super::big::Big;
use crate::decimal::{COEFFICIENT_MAX, Decimal, EXPONENT_MAX, EXPONENT_MIN, digits};

/// The digits of a decimal, and what is computed to know how it is rounded.
const DIGITS: u32 = 34;
const COMPUTED_DIGITS: u32 = 36;

/// The double nearest to `magnitude * 2^exponent / divisor`.
pub fn to_f64(mut magnitude: Big, mut exponent: i32, divisor: u64) -> f64 {
    const MANTISSA_BITS: i32 = 53;
    const LEAST: i32 = -1074;
    let mut left_over = false;
    if divisor > 1 {
        // So many more bits that the quotient has more than a double.
        magnitude.shift_left(128);
        exponent -= 128;
        left_over = magnitude.divide(divisor) != 0;
    }
    if magnitude.is_zero() {
        return 0.0;
    }
    let dropped = (magnitude.bits() as i32 - MANTISSA_BITS).max(LEAST - exponent);
    exponent += dropped;
    let mut mantissa = match u32::try_from(dropped) {
        Ok(dropped) => magnitude.bits_from(dropped),
        Err(_) => magnitude.bits_from(0) << dropped.unsigned_abs(),
    };
    if dropped > 0 && magnitude.bit(dropped as u32 - 1) {
        let below_half = magnitude.trailing_zeros() < dropped as u32 - 1 || left_over;
        mantissa += u64::from(below_half || mantissa % 2 == 1);
    }
    // A mantissa that was rounded up to 54 bits raises the exponent by itself, one without its
    // leading bit is subnormal, and what is past the last exponent is infinite.
    let biased = (exponent - LEAST) as u64;
    f64::from_bits(((biased << 52) + mantissa).min(f64::INFINITY.to_bits()))
}

/// The decimal nearest to `magnitude * 10^exponent / divisor`. If that is exact, of the forms of
/// the number it is the one whose exponent is nearest to `exponent`.
pub fn to_decimal(negative: bool, magnitude: Big, exponent: i32, divisor: u64) -> Decimal {
    let ideal = exponent;
    if magnitude.is_zero() {
        return Decimal::Finite { negative: false, coefficient: 0, exponent: ideal };
    }
    if divisor == 1
        && let Some(coefficient) = magnitude.to_u128().filter(|it| *it <= COEFFICIENT_MAX)
    {
        return Decimal::Finite { negative, coefficient, exponent: ideal };
    }
    let (quotient, exponent, left_over) = leading_digits(magnitude, exponent, divisor);
    let dropped = digits(quotient).saturating_sub(DIGITS);
    let dropped = dropped.max(u32::try_from(EXPONENT_MIN - exponent).unwrap_or(0));
    let mut exponent = exponent + dropped as i32;
    let Some(unit) = crate::decimal::power(dropped) else {
        // Less than a tenth of the least decimal.
        return Decimal::Finite { negative, coefficient: 0, exponent };
    };
    let (mut coefficient, rest) = (quotient / unit, quotient % unit);
    let half = unit / 2;
    if rest > half || (rest == half && (left_over || coefficient % 2 == 1)) {
        coefficient += 1;
    }
    if coefficient > COEFFICIENT_MAX {
        coefficient /= 10;
        exponent += 1;
    }
    if rest == 0 && !left_over {
        while exponent < ideal && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
    }
    if exponent > EXPONENT_MAX {
        return Decimal::Infinity { negative };
    }
    Decimal::Finite { negative, coefficient, exponent }
}

/// The first digits of `magnitude * 10^exponent / divisor`, a few more than a decimal has; the
/// exponent of the last; whether something is left over.
fn leading_digits(mut magnitude: Big, mut exponent: i32, divisor: u64) -> (u128, i32, bool) {
    let wanted = COMPUTED_DIGITS + digits(divisor.into());
    let raised = wanted.saturating_sub(digits_min(&magnitude));
    magnitude.multiply_by_ten(raised);
    exponent -= raised as i32;
    let mut left_over = magnitude.divide(divisor) != 0;
    let dropped = digits_min(&magnitude).saturating_sub(COMPUTED_DIGITS);
    left_over |= magnitude.divide_by_ten(dropped);
    exponent += dropped as i32;
    (magnitude.to_u128().unwrap_or(u128::MAX), exponent, left_over)
}

/// How many decimal digits it has, or one less.
fn digits_min(magnitude: &Big) -> u32 {
    (f64::from(magnitude.bits().saturating_sub(1)) * std::f64::consts::LOG10_2) as u32 + 1
}
