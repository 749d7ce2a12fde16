//! Numbers in keys: all four types in one order, equal values as equal bytes.
//!
//! ```text
//! 20 NaN         2B zero
//! 2C small       0 < x < 1: the double below or at x (8), the rest
//! 2D..34 middle  1 <= x < 2^63, the integer part n in 1..8 bytes: 2n, or 2n + 1
//!                where a fraction follows: floor(fraction * 2^64) (8), the rest
//! 35 large       2^63 <= x: the double below or at x (8), the rest
//! 21..2A         the negatives: 21 large, 22..29 middle of 8..1 bytes, 2A small;
//!                the body is that of -x, inverted
//! ```
//!
//! "The rest" is 00 if the bytes before it give x exactly, which holds for every
//! double and every integer. Else it is 01 and the digits of x as a decimal: the
//! exponent of ten of the fraction 0.d₁d₂… (2, plus 8192), then pairs of digits,
//! each plus 1, without zeros at the end, then 00.
//!
//! Order: truncation keeps order, so that two numbers of unequal truncation are
//! in order; of two with the same truncation the exact one is the smaller, and
//! two inexact ones, both decimals, compare by their digits.

use super::{Key, types};
use crate::decimal::{Decimal, digits, power};
use bson::Decimal128;
use std::cmp::Ordering;

pub const NAN: u8 = 0x20;
pub const ZERO: u8 = 0x2B;
pub const SMALL: u8 = 0x2C;
/// The tag of a middle number of no bytes; one a byte is added.
pub const MIDDLE: u8 = 0x2C;
pub const LARGE: u8 = 0x35;
/// A negative number's tag is as far below the one of zero as its counterpart's
/// is above it.
pub const NEGATIVE_MIN: u8 = 2 * ZERO - LARGE;

pub const EXACT: u8 = 0;
pub const INEXACT: u8 = 1;

const INT64_END: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

impl Key {
    pub(super) fn int32(&mut self, value: i32) {
        self.integer(value < 0, value.unsigned_abs().into());
    }

    pub(super) fn int64(&mut self, value: i64) {
        // The least int64 is kept as a large number, whose default is a double.
        if i32::try_from(value).is_ok() || value == i64::MIN {
            self.note(types::INT64, &[]);
        }
        self.integer(value < 0, value.unsigned_abs());
    }

    pub(super) fn double(&mut self, value: f64) {
        if value.is_nan() {
            if value.to_bits() != f64::NAN.to_bits() {
                self.note(types::DOUBLE_BITS, &value.to_bits().to_be_bytes());
            }
            return self.bytes.push(NAN);
        }
        if value == 0.0 {
            let kind = if value.is_sign_negative() { types::NEGATIVE_ZERO } else { types::DOUBLE };
            self.note(kind, &[]);
            return self.bytes.push(ZERO);
        }
        let negative = value < 0.0;
        let magnitude = value.abs();
        if !(1.0..INT64_END).contains(&magnitude) {
            let tag = if magnitude < 1.0 { SMALL } else { LARGE };
            return self.signed(negative, tag, |bytes| {
                bytes.extend_from_slice(&magnitude.to_bits().to_be_bytes());
                bytes.push(EXACT);
            });
        }
        let whole = magnitude.trunc();
        let fraction = magnitude - whole;
        if fraction == 0.0 {
            self.note(types::DOUBLE, &[]);
            return self.integer(negative, whole as u64);
        }
        // At least one bit of the 53 is in front of the point, so 64 bits behind
        // it hold the rest.
        self.middle(negative, whole as u64, Some(((fraction * TWO_64) as u64, None)));
    }

    pub(super) fn decimal(&mut self, stored: Decimal128) {
        self.note(types::DECIMAL, &stored.bytes());
        let value = Decimal::read(stored);
        let (negative, coefficient, exponent) = match value {
            Decimal::NaN => return self.bytes.push(NAN),
            Decimal::Infinity { negative } => {
                return self.signed(negative, LARGE, |bytes| {
                    bytes.extend_from_slice(&f64::INFINITY.to_bits().to_be_bytes());
                    bytes.push(EXACT);
                });
            }
            Decimal::Finite { coefficient: 0, .. } => return self.bytes.push(ZERO),
            Decimal::Finite { negative, coefficient, exponent } => {
                (negative, coefficient, exponent)
            }
        };
        let Some((whole, fraction)) = split(coefficient, exponent) else {
            let place = exponent + digits(coefficient) as i32;
            let tag = if place <= 0 { SMALL } else { LARGE };
            let magnitude = Decimal::Finite { negative: false, coefficient, exponent };
            let (below, exact) = double_below(magnitude);
            return self.signed(negative, tag, |bytes| {
                bytes.extend_from_slice(&below.to_bits().to_be_bytes());
                rest(bytes, (!exact).then_some((coefficient, exponent)));
            });
        };
        match fraction {
            None => self.integer(negative, whole),
            Some((bits, exact)) => {
                let digits = (!exact).then_some((coefficient, exponent));
                self.middle(negative, whole, Some((bits, digits)));
            }
        }
    }

    fn integer(&mut self, negative: bool, magnitude: u64) {
        if magnitude == 0 {
            self.bytes.push(ZERO);
        } else if magnitude < 1 << 63 {
            self.middle(negative, magnitude, None);
        } else {
            self.signed(negative, LARGE, |bytes| {
                bytes.extend_from_slice(&(magnitude as f64).to_bits().to_be_bytes());
                bytes.push(EXACT);
            });
        }
    }

    /// `fraction`: 64 bits, and the decimal's digits where these do not suffice.
    fn middle(&mut self, negative: bool, whole: u64, fraction: Option<(u64, Option<(u128, i32)>)>) {
        let doubled = whole << 1 | u64::from(fraction.is_some());
        let unused = doubled.leading_zeros() as usize / 8;
        self.signed(negative, MIDDLE + (8 - unused) as u8, |bytes| {
            bytes.extend_from_slice(&doubled.to_be_bytes()[unused..]);
            if let Some((bits, digits)) = fraction {
                bytes.extend_from_slice(&bits.to_be_bytes());
                rest(bytes, digits);
            }
        });
    }

    /// Writes tag and body, mirrored for a negative number.
    fn signed(&mut self, negative: bool, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(if negative { 2 * ZERO - tag } else { tag });
        let start = self.bytes.len();
        body(&mut self.bytes);
        if negative {
            self.bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// Splits a positive decimal from 1 to below 2^63 into its integer part and its
/// fraction: 64 bits of it, and whether they are all. `None` out of that range.
fn split(coefficient: u128, exponent: i32) -> Option<(u64, Option<(u64, bool)>)> {
    let place = exponent + digits(coefficient) as i32;
    // 2^63 has 19 digits.
    if !(1..=19).contains(&place) {
        return None;
    }
    let scale = power(exponent.unsigned_abs())?;
    let (whole, mut remainder) = if exponent >= 0 {
        (coefficient.checked_mul(scale)?, 0)
    } else {
        (coefficient / scale, coefficient % scale)
    };
    let whole = u64::try_from(whole).ok().filter(|whole| *whole < 1 << 63)?;
    if remainder == 0 {
        return Some((whole, None));
    }
    let mut bits = 0u64;
    for _ in 0..64 {
        remainder *= 2;
        bits = bits << 1 | u64::from(remainder >= scale);
        if remainder >= scale {
            remainder -= scale;
        }
    }
    Some((whole, Some((bits, remainder == 0))))
}

/// The largest finite double that a positive decimal is not below, and whether
/// they are equal.
fn double_below(value: Decimal) -> (f64, bool) {
    let nearest = value.to_f64().min(f64::MAX);
    match value.compare_f64(nearest) {
        Ordering::Less => (nearest.next_down(), false),
        Ordering::Equal => (nearest, true),
        Ordering::Greater => (nearest, false),
    }
}

fn rest(bytes: &mut Vec<u8>, digits: Option<(u128, i32)>) {
    let Some((coefficient, exponent)) = digits else {
        return bytes.push(EXACT);
    };
    let text = coefficient.to_string();
    let place = exponent + text.len() as i32 + 8192;
    bytes.push(INEXACT);
    bytes.extend_from_slice(&(place as u16).to_be_bytes());
    for pair in text.trim_end_matches('0').as_bytes().chunks(2) {
        let digit = |at: usize| pair.get(at).map_or(0, |digit| digit - b'0');
        bytes.push(digit(0) * 10 + digit(1) + 1);
    }
    bytes.push(0);
}
