//! Decimal128 taken apart, and put together again.
//!
//! BSON stores the coefficient as a binary integer; the arithmetic library wants
//! densely packed digits. Comparison and conversion need neither: they work on
//! the parts.

use bson::Decimal128;
use dec::Context;
use std::cmp::Ordering;

/// The largest coefficient: 34 nines.
pub(crate) const COEFFICIENT_MAX: u128 = 10u128.pow(34) - 1;
pub(crate) const EXPONENT_MIN: i32 = -EXPONENT_BIAS;
pub(crate) const EXPONENT_MAX: i32 = 6111;
const EXPONENT_BIAS: i32 = 6176;
const COEFFICIENT_BITS: u32 = 113;
const INFINITY: u128 = 0x78 << 120;
const NAN: u128 = 0x7C << 120;
const SIGN: u128 = 1 << 127;

/// A decimal by its parts. The exponent is kept as stored: 1.0 is not 1.00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    NaN,
    Infinity { negative: bool },
    Finite { negative: bool, coefficient: u128, exponent: i32 },
}

impl Decimal {
    pub fn read(stored: Decimal128) -> Decimal {
        let bits = u128::from_le_bytes(stored.bytes());
        let negative = bits & SIGN != 0;
        if bits & NAN == NAN {
            Decimal::NaN
        } else if bits & INFINITY == INFINITY {
            Decimal::Infinity { negative }
        } else if bits & (0x60 << 120) == 0x60 << 120 {
            // The second form holds only coefficients past the maximum, which the
            // standard reads as zero.
            let exponent = (bits >> (COEFFICIENT_BITS - 2)) as i32 & 0x3FFF;
            Decimal::Finite { negative, coefficient: 0, exponent: exponent - EXPONENT_BIAS }
        } else {
            let exponent = (bits >> COEFFICIENT_BITS) as i32 & 0x3FFF;
            let coefficient = bits & ((1 << COEFFICIENT_BITS) - 1);
            let coefficient = if coefficient > COEFFICIENT_MAX { 0 } else { coefficient };
            Decimal::Finite { negative, coefficient, exponent: exponent - EXPONENT_BIAS }
        }
    }

    /// The stored form. The parts must be in range, as those of `read` are.
    pub fn write(self) -> Decimal128 {
        let sign = |negative| if negative { SIGN } else { 0 };
        let bits = match self {
            Decimal::NaN => NAN,
            Decimal::Infinity { negative } => INFINITY | sign(negative),
            Decimal::Finite { negative, coefficient, exponent } => {
                let exponent = (exponent + EXPONENT_BIAS).clamp(0, 0x2FFF) as u128;
                exponent << COEFFICIENT_BITS | coefficient.min(COEFFICIENT_MAX) | sign(negative)
            }
        };
        Decimal128::from_bytes(bits.to_le_bytes())
    }

    pub fn from_i64(value: i64) -> Decimal {
        Decimal::Finite {
            negative: value < 0,
            coefficient: value.unsigned_abs().into(),
            exponent: 0,
        }
    }

    /// As MongoDB converts: rounded to 15 significant digits, all of them kept.
    pub fn from_f64(value: f64) -> Decimal {
        if value.is_nan() {
            return Decimal::NaN;
        }
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return Decimal::Infinity { negative };
        }
        if value == 0.0 {
            return Decimal::Finite { negative, coefficient: 0, exponent: 0 };
        }
        let (coefficient, exponent) = significant_digits(value.abs(), 15);
        Decimal::Finite { negative, coefficient, exponent }
    }

    /// As MongoDB converts where all digits are wanted: rounded to 34 digits,
    /// zeros at the end dropped.
    pub fn from_f64_exact(value: f64) -> Decimal {
        match Decimal::from_f64(value) {
            Decimal::Finite { negative, coefficient: 1.., .. } => {
                let (mut coefficient, mut exponent) = significant_digits(value.abs(), 34);
                while exponent < 0 && coefficient.is_multiple_of(10) {
                    coefficient /= 10;
                    exponent += 1;
                }
                Decimal::Finite { negative, coefficient, exponent }
            }
            special => special,
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Decimal::NaN => f64::NAN,
            Decimal::Infinity { negative: false } => f64::INFINITY,
            Decimal::Infinity { negative: true } => f64::NEG_INFINITY,
            Decimal::Finite { negative, coefficient, exponent } => {
                let magnitude = nearest(coefficient, exponent);
                if negative { -magnitude } else { magnitude }
            }
        }
    }

    pub fn is_negative(self) -> bool {
        match self {
            Decimal::NaN => false,
            Decimal::Infinity { negative } | Decimal::Finite { negative, .. } => negative,
        }
    }

    pub fn negate(self) -> Decimal {
        match self {
            Decimal::NaN => Decimal::NaN,
            Decimal::Infinity { negative } => Decimal::Infinity { negative: !negative },
            Decimal::Finite { negative, coefficient, exponent } => {
                Decimal::Finite { negative: !negative, coefficient, exponent }
            }
        }
    }

    pub fn is_zero(self) -> bool {
        matches!(self, Decimal::Finite { coefficient: 0, .. })
    }

    /// The integer it is, if it is one and 128 bits hold it.
    pub fn to_i128_exact(self) -> Option<i128> {
        let Decimal::Finite { negative, coefficient, exponent } = self else { return None };
        if coefficient == 0 {
            return Some(0);
        }
        let magnitude = if exponent >= 0 {
            coefficient.checked_mul(power(exponent.unsigned_abs())?)?
        } else {
            let divisor = power(exponent.unsigned_abs())?;
            if !coefficient.is_multiple_of(divisor) {
                return None;
            }
            coefficient / divisor
        };
        let magnitude = i128::try_from(magnitude).ok()?;
        Some(if negative { -magnitude } else { magnitude })
    }

    /// The integer left when the fraction is dropped, if 128 bits hold it.
    pub fn to_i128_truncated(self) -> Option<i128> {
        match self {
            Decimal::Finite { negative, coefficient, exponent } if exponent < 0 => {
                let whole = power(exponent.unsigned_abs()).map_or(0, |power| coefficient / power);
                let whole = i128::try_from(whole).ok()?;
                Some(if negative { -whole } else { whole })
            }
            _ => self.to_i128_exact(),
        }
    }

    /// By value; NaN equals NaN and sorts below everything.
    pub fn compare(self, other: Decimal) -> Ordering {
        use Decimal::*;
        match (self, other) {
            (NaN, NaN) => Ordering::Equal,
            (NaN, _) => Ordering::Less,
            (_, NaN) => Ordering::Greater,
            _ => match self.sign().cmp(&other.sign()) {
                Ordering::Equal if self.sign() < 0 => other.compare_magnitude(self),
                Ordering::Equal => self.compare_magnitude(other),
                unequal => unequal,
            },
        }
    }

    /// Compares exactly with a double that is not NaN. Rounding keeps order, so
    /// only a double that is the nearest one needs a closer look.
    pub fn compare_f64(self, other: f64) -> Ordering {
        let Decimal::Finite { negative, coefficient, exponent } = self else {
            return match self {
                Decimal::NaN => Ordering::Less,
                _ => self.to_f64().total_cmp(&other),
            };
        };
        if other.is_infinite() || other == 0.0 || self.sign() == 0 {
            let other = if other == 0.0 {
                0
            } else if other < 0.0 {
                -1
            } else {
                1
            };
            return if other == 0 || self.sign() == 0 || other != self.sign() {
                self.sign().cmp(&other)
            } else {
                0.cmp(&other)
            };
        }
        let nearest = self.to_f64();
        if nearest != other {
            return nearest.total_cmp(&other);
        }
        let order = compare_digits(coefficient, exponent, other.abs());
        if negative { order.reverse() } else { order }
    }

    /// -1, 0 or 1; zeros have no sign here.
    fn sign(self) -> i32 {
        match self {
            _ if self.is_zero() => 0,
            _ if self.is_negative() => -1,
            _ => 1,
        }
    }

    /// For values of one sign, neither NaN.
    fn compare_magnitude(self, other: Decimal) -> Ordering {
        let (
            Decimal::Finite { coefficient: a, exponent: a_exponent, .. },
            Decimal::Finite { coefficient: b, exponent: b_exponent, .. },
        ) = (self, other)
        else {
            let infinite = |value| matches!(value, Decimal::Infinity { .. });
            return infinite(self).cmp(&infinite(other));
        };
        if a == 0 || b == 0 {
            return (a != 0).cmp(&(b != 0));
        }
        let (a_digits, b_digits) = (digits(a), digits(b));
        (a_exponent + a_digits as i32).cmp(&(b_exponent + b_digits as i32)).then_with(|| {
            // The leading digits stand at the same place: pad to equal length.
            let width = a_digits.max(b_digits);
            let pad = |value: u128, digits| value * 10u128.pow(width - digits);
            pad(a, a_digits).cmp(&pad(b, b_digits))
        })
    }
}

/// The decimal as the arithmetic library holds it.
pub fn to_dec(stored: Decimal128) -> dec::Decimal128 {
    match Decimal::read(stored) {
        Decimal::NaN => dec::Decimal128::NAN,
        Decimal::Infinity { negative: false } => infinity(),
        Decimal::Infinity { negative: true } => -infinity(),
        Decimal::Finite { negative, coefficient, exponent } => {
            let mut context = Context::<dec::Decimal128>::default();
            let mut value = context.from_u128(coefficient);
            context.set_exponent(&mut value, exponent);
            // Negation would lose the sign of zero.
            if negative { value * dec::Decimal128::from(-1) } else { value }
        }
    }
}

/// The stored form of what the arithmetic library computed.
pub fn from_dec(value: dec::Decimal128) -> Decimal128 {
    let negative = value.is_signed();
    let parts = if value.is_nan() {
        Decimal::NaN
    } else if value.is_infinite() {
        Decimal::Infinity { negative }
    } else {
        let coefficient = value.coefficient().unsigned_abs();
        Decimal::Finite { negative, coefficient, exponent: value.exponent() }
    };
    parts.write()
}

fn infinity() -> dec::Decimal128 {
    dec::Decimal128::ONE / dec::Decimal128::ZERO
}

/// How many decimal digits a coefficient has.
pub(crate) fn digits(coefficient: u128) -> u32 {
    coefficient.checked_ilog10().map_or(1, |log| log + 1)
}

/// 10^exponent, if 128 bits hold it.
pub(crate) fn power(exponent: u32) -> Option<u128> {
    10u128.checked_pow(exponent)
}

/// The nearest double to a positive decimal.
fn nearest(coefficient: u128, exponent: i32) -> f64 {
    const EXACT_MAX: u128 = 1 << 53;
    // Both operands are exact here, so that one rounding gives the nearest.
    if coefficient <= EXACT_MAX && (-22..=22).contains(&exponent) {
        let scale = 10f64.powi(exponent.abs());
        let coefficient = coefficient as f64;
        return if exponent < 0 { coefficient / scale } else { coefficient * scale };
    }
    format!("{coefficient}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// Compares a positive decimal with a positive finite double by their digits.
fn compare_digits(coefficient: u128, exponent: i32, double: f64) -> Ordering {
    // A double has at most 767 significant digits, all of which are printed.
    let text = format!("{double:.766e}");
    let (mantissa, scale) = text.split_once('e').unwrap_or((&text, "0"));
    let scale: i32 = scale.parse().unwrap_or(0);
    let ours = coefficient.to_string();
    (exponent + ours.len() as i32 - 1).cmp(&scale).then_with(|| {
        let ours = ours.bytes().chain(std::iter::repeat(b'0'));
        let theirs = mantissa.bytes().filter(u8::is_ascii_digit);
        ours.take(767).cmp(theirs)
    })
}

/// A positive double rounded to so many digits: coefficient and exponent.
fn significant_digits(value: f64, digits: usize) -> (u128, i32) {
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, scale) = text.split_once('e').unwrap_or((&text, "0"));
    let coefficient = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    (coefficient, scale.parse::<i32>().unwrap_or(0) - (digits as i32 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &str) -> Decimal128 {
        text.parse().unwrap()
    }

    #[test]
    fn parts_survive_both_forms() {
        for text in [
            "0",
            "-0",
            "1",
            "1.0",
            "1.00",
            "-1.5E-6175",
            "9.999999999999999999999999999999999E6144",
            "123456789012345678901234567890.1234",
            "1E-6176",
            "Infinity",
            "-Infinity",
        ] {
            let value = stored(text);
            assert_eq!(Decimal::read(value).write(), value, "{text}");
            assert_eq!(from_dec(to_dec(value)), value, "{text}");
        }
        assert!(to_dec(stored("NaN")).is_nan());
        assert_eq!(Decimal::read(from_dec(dec::Decimal128::NAN)), Decimal::NaN);
    }

    #[test]
    fn doubles_become_fifteen_digits() {
        let text = |value| Decimal::from_f64(value).write().to_string();
        assert_eq!(text(2.5), "2.50000000000000");
        assert_eq!(text(0.1), "0.100000000000000");
        assert_eq!(text(-1e20), "-1.00000000000000E+20");
        assert_eq!(text(0.0), "0");
    }

    #[test]
    fn comparison_with_doubles_is_exact() {
        let compare = |text: &str, double| Decimal::read(stored(text)).compare_f64(double);
        assert_eq!(compare("0.5", 0.5), Ordering::Equal);
        assert_eq!(compare("0.1", 0.1), Ordering::Less);
        assert_eq!(compare("-0.1", -0.1), Ordering::Greater);
        assert_eq!(compare("0.3", 0.3), Ordering::Greater);
        assert_eq!(compare("9007199254740993", 9007199254740992.0), Ordering::Greater);
        assert_eq!(compare("1E6000", f64::MAX), Ordering::Greater);
        assert_eq!(compare("1E6000", f64::INFINITY), Ordering::Less);
        assert_eq!(compare("-1E6000", f64::NEG_INFINITY), Ordering::Greater);
        assert_eq!(compare("1E-6000", 0.0), Ordering::Greater);
        assert_eq!(compare("-1E-6000", 0.0), Ordering::Less);
        assert_eq!(compare("0E10", -0.0), Ordering::Equal);
        assert_eq!(compare("0", 5e-324), Ordering::Less);
        assert_eq!(compare("-1", 5e-324), Ordering::Less);
        assert_eq!(compare("Infinity", f64::INFINITY), Ordering::Equal);
    }
}
