//! Numbers across int32, int64, double and decimal128, with MongoDB's promotion
//! and overflow rules.

use crate::decimal::{Decimal, from_dec, to_dec};
use bson::{Decimal128, RawBson, RawBsonRef};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
pub enum Number {
    Int32(i32),
    Int64(i64),
    Double(f64),
    Decimal(Decimal128),
}

/// 2^63, the first double past every int64.
const INT64_END: f64 = 9_223_372_036_854_775_808.0;

impl Number {
    #[inline]
    pub fn from_value(value: RawBsonRef<'_>) -> Option<Number> {
        Some(match value {
            RawBsonRef::Int32(value) => Number::Int32(value),
            RawBsonRef::Int64(value) => Number::Int64(value),
            RawBsonRef::Double(value) => Number::Double(value),
            RawBsonRef::Decimal128(value) => Number::Decimal(value),
            _ => return None,
        })
    }

    /// An int32 if it fits, else an int64.
    pub fn from_i64(value: i64) -> Number {
        i32::try_from(value).map_or(Number::Int64(value), Number::Int32)
    }

    pub fn to_value(self) -> RawBson {
        match self {
            Number::Int32(value) => RawBson::Int32(value),
            Number::Int64(value) => RawBson::Int64(value),
            Number::Double(value) => RawBson::Double(value),
            Number::Decimal(value) => RawBson::Decimal128(value),
        }
    }

    pub fn to_ref(self) -> RawBsonRef<'static> {
        match self {
            Number::Int32(value) => RawBsonRef::Int32(value),
            Number::Int64(value) => RawBsonRef::Int64(value),
            Number::Double(value) => RawBsonRef::Double(value),
            Number::Decimal(value) => RawBsonRef::Decimal128(value),
        }
    }

    /// int32 grows into int64, int64 into double only where the caller says so:
    /// `None` is an int64 overflow.
    pub fn checked_add(self, other: Number) -> Option<Number> {
        self.combine(other, i64::checked_add, |a, b| a + b, |a, b| a + b)
    }

    /// As `checked_add`.
    pub fn checked_subtract(self, other: Number) -> Option<Number> {
        self.combine(other, i64::checked_sub, |a, b| a - b, |a, b| a - b)
    }

    /// As `checked_add`.
    pub fn checked_multiply(self, other: Number) -> Option<Number> {
        self.combine(other, i64::checked_mul, |a, b| a * b, |a, b| a * b)
    }

    /// The quotient, a double or a decimal. Division by zero is for the caller to
    /// refuse before; here it gives an infinity or NaN.
    pub fn divide(self, other: Number) -> Number {
        if self.is_decimal() || other.is_decimal() {
            Number::Decimal(from_dec(to_dec(self.to_decimal()) / to_dec(other.to_decimal())))
        } else {
            Number::Double(self.to_f64() / other.to_f64())
        }
    }

    /// The remainder, with the sign of the dividend. `None` for an integer
    /// divided by zero.
    pub fn remainder(self, other: Number) -> Option<Number> {
        // The least int64 has no remainder by -1 that the processor computes.
        let integers = |a: i64, b: i64| if b == -1 { Some(0) } else { a.checked_rem(b) };
        self.combine(other, integers, |a, b| a % b, |a, b| a % b)
    }

    /// `None` is the int64 that has no positive counterpart.
    pub fn checked_negate(self) -> Option<Number> {
        Some(match self {
            Number::Int32(value) => match value.checked_neg() {
                Some(value) => Number::Int32(value),
                None => Number::Int64(-i64::from(value)),
            },
            Number::Int64(value) => Number::Int64(value.checked_neg()?),
            Number::Double(value) => Number::Double(-value),
            Number::Decimal(value) => Number::Decimal(Decimal::read(value).negate().write()),
        })
    }

    /// By value, across types; NaN equals NaN and sorts below every number.
    #[inline]
    pub fn compare(self, other: Number) -> Ordering {
        use Number::*;
        match (self, other) {
            (Int32(a), Int32(b)) => a.cmp(&b),
            (Int32(a), Int64(b)) => i64::from(a).cmp(&b),
            (Int64(a), Int32(b)) => a.cmp(&i64::from(b)),
            (Int64(a), Int64(b)) => a.cmp(&b),
            (Double(a), Double(b)) => compare_doubles(a, b),
            (Int32(a), Double(b)) => compare_doubles(a.into(), b),
            (Double(a), Int32(b)) => compare_doubles(a, b.into()),
            (Int64(a), Double(b)) => compare_i64_f64(a, b),
            (Double(a), Int64(b)) => compare_i64_f64(b, a).reverse(),
            (Decimal(a), b) => compare_decimal(a, b),
            (a, Decimal(b)) => compare_decimal(b, a).reverse(),
        }
    }

    /// The nearest double.
    #[inline]
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int32(value) => value.into(),
            Number::Int64(value) => value as f64,
            Number::Double(value) => value,
            Number::Decimal(value) => Decimal::read(value).to_f64(),
        }
    }

    /// A decimal; a double gives its 15 most significant digits, as in MongoDB.
    pub fn to_decimal(self) -> Decimal128 {
        match self {
            Number::Int32(value) => Decimal::from_i64(value.into()).write(),
            Number::Int64(value) => Decimal::from_i64(value).write(),
            Number::Double(value) => Decimal::from_f64(value).write(),
            Number::Decimal(value) => value,
        }
    }

    /// The int64 of the same value, if there is one.
    pub fn to_i64_exact(self) -> Option<i64> {
        match self {
            Number::Int32(value) => Some(value.into()),
            Number::Int64(value) => Some(value),
            Number::Double(value) => {
                let fits = (-INT64_END..INT64_END).contains(&value) && value.fract() == 0.0;
                fits.then_some(value as i64)
            }
            Number::Decimal(value) => {
                Decimal::read(value).to_i128_exact().and_then(|value| value.try_into().ok())
            }
        }
    }

    /// The int32 of the same value, if there is one.
    pub fn to_i32_exact(self) -> Option<i32> {
        self.to_i64_exact().and_then(|value| value.try_into().ok())
    }

    /// The fraction dropped. `None` for NaN, infinities and what no int64 holds.
    pub fn to_i64_truncated(self) -> Option<i64> {
        match self {
            Number::Double(value) => {
                let value = value.trunc();
                (-INT64_END..INT64_END).contains(&value).then_some(value as i64)
            }
            Number::Decimal(value) => {
                Decimal::read(value).to_i128_truncated().and_then(|value| value.try_into().ok())
            }
            integer => integer.to_i64_exact(),
        }
    }

    /// The fraction dropped, NaN as 0, what is out of range as the nearest end.
    pub fn to_i64_saturated(self) -> i64 {
        match self.to_i64_truncated() {
            Some(value) => value,
            None if self.is_nan() => 0,
            None if self.is_negative() => i64::MIN,
            None => i64::MAX,
        }
    }

    /// Whether it has no fraction. Infinities and NaN are not integral.
    pub fn is_integral(self) -> bool {
        match self {
            Number::Int32(_) | Number::Int64(_) => true,
            Number::Double(value) => value.is_finite() && value.fract() == 0.0,
            Number::Decimal(value) => match Decimal::read(value) {
                Decimal::Finite { exponent: 0.., .. } => true,
                decimal => decimal.to_i128_exact().is_some(),
            },
        }
    }

    pub fn is_nan(self) -> bool {
        match self {
            Number::Double(value) => value.is_nan(),
            Number::Decimal(value) => Decimal::read(value) == Decimal::NaN,
            _ => false,
        }
    }

    pub fn is_infinite(self) -> bool {
        match self {
            Number::Double(value) => value.is_infinite(),
            Number::Decimal(value) => matches!(Decimal::read(value), Decimal::Infinity { .. }),
            _ => false,
        }
    }

    pub fn is_finite(self) -> bool {
        !self.is_nan() && !self.is_infinite()
    }

    /// Zero of any type and sign.
    pub fn is_zero(self) -> bool {
        match self {
            Number::Int32(value) => value == 0,
            Number::Int64(value) => value == 0,
            Number::Double(value) => value == 0.0,
            Number::Decimal(value) => Decimal::read(value).is_zero(),
        }
    }

    /// Below zero; -0.0 is not.
    pub fn is_negative(self) -> bool {
        match self {
            Number::Int32(value) => value < 0,
            Number::Int64(value) => value < 0,
            Number::Double(value) => value < 0.0,
            Number::Decimal(value) => {
                let value = Decimal::read(value);
                value.is_negative() && !value.is_zero()
            }
        }
    }

    pub fn is_decimal(self) -> bool {
        matches!(self, Number::Decimal(_))
    }

    /// The widest of the two types decides: decimal, double, int64, int32; an
    /// int32 result that does not fit becomes an int64.
    fn combine(
        self,
        other: Number,
        integers: impl Fn(i64, i64) -> Option<i64>,
        doubles: impl Fn(f64, f64) -> f64,
        decimals: impl Fn(dec::Decimal128, dec::Decimal128) -> dec::Decimal128,
    ) -> Option<Number> {
        use Number::*;
        Some(match (self, other) {
            (Int32(a), Int32(b)) => Number::from_i64(integers(a.into(), b.into())?),
            (Int32(a), Int64(b)) => Int64(integers(a.into(), b)?),
            (Int64(a), Int32(b)) => Int64(integers(a, b.into())?),
            (Int64(a), Int64(b)) => Int64(integers(a, b)?),
            (Decimal(_), _) | (_, Decimal(_)) => {
                Decimal(from_dec(decimals(to_dec(self.to_decimal()), to_dec(other.to_decimal()))))
            }
            _ => Double(doubles(self.to_f64(), other.to_f64())),
        })
    }
}

#[inline]
fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// Exact where a double cannot hold the int64, past 2^53.
fn compare_i64_f64(a: i64, b: f64) -> Ordering {
    if b.is_nan() || b < -INT64_END {
        Ordering::Greater
    } else if b >= INT64_END {
        Ordering::Less
    } else {
        let whole = b as i64;
        a.cmp(&whole).then_with(|| compare_doubles(0.0, b - whole as f64))
    }
}

fn compare_decimal(a: Decimal128, b: Number) -> Ordering {
    let a = Decimal::read(a);
    match b {
        Number::Int32(b) => a.compare(Decimal::from_i64(b.into())),
        Number::Int64(b) => a.compare(Decimal::from_i64(b)),
        Number::Double(b) if b.is_nan() => a.compare(Decimal::NaN),
        Number::Double(b) => a.compare_f64(b),
        Number::Decimal(b) => a.compare(Decimal::read(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::Number::*;
    use super::*;

    fn decimal(text: &str) -> Number {
        Decimal(text.parse().unwrap())
    }

    fn shown(number: Option<Number>) -> String {
        match number {
            None => "overflow".into(),
            Some(number) => format!("{:?}", bson::Bson::try_from(number.to_value()).unwrap()),
        }
    }

    #[test]
    fn integers_grow_and_overflow() {
        assert_eq!(shown(Int32(1).checked_add(Int32(2))), "Int32(3)");
        assert_eq!(shown(Int32(i32::MAX).checked_add(Int32(1))), "Int64(2147483648)");
        assert_eq!(shown(Int64(1).checked_add(Int32(2))), "Int64(3)");
        assert_eq!(shown(Int64(i64::MAX).checked_add(Int32(1))), "overflow");
        assert_eq!(shown(Int32(i32::MIN).checked_multiply(Int32(-1))), "Int64(2147483648)");
        assert_eq!(shown(Int64(i64::MIN).checked_subtract(Int32(1))), "overflow");
        assert_eq!(shown(Int64(i64::MIN).remainder(Int64(-1))), "Int64(0)");
        assert_eq!(shown(Int32(-7).remainder(Int32(3))), "Int32(-1)");
        assert_eq!(shown(Int32(1).remainder(Int32(0))), "overflow");
        assert_eq!(shown(Int32(i32::MIN).checked_negate()), "Int64(2147483648)");
        assert_eq!(shown(Int64(i64::MIN).checked_negate()), "overflow");
    }

    #[test]
    fn the_widest_type_decides() {
        assert_eq!(shown(Int32(1).checked_add(Double(0.5))), "Double(1.5)");
        let sum = decimal("1.10").checked_add(Int32(2)).unwrap();
        assert_eq!(sum.to_value(), "3.10".parse::<Decimal128>().unwrap().into());
        let sum = decimal("1").checked_add(Double(1.0)).unwrap();
        assert_eq!(sum.to_value(), "2.00000000000000".parse::<Decimal128>().unwrap().into());
        let quotient = Int32(1).divide(decimal("4"));
        assert_eq!(quotient.to_value(), "0.25".parse::<Decimal128>().unwrap().into());
    }

    #[test]
    fn comparison_loses_no_precision() {
        let two_53 = 1i64 << 53;
        assert!(Int64(two_53 + 1).compare(Double(two_53 as f64)).is_gt());
        assert!(Int64(i64::MAX).compare(Double(INT64_END)).is_lt());
        assert!(Int64(i64::MIN).compare(Double(-INT64_END)).is_eq());
        assert!(Int64(3).compare(Double(3.5)).is_lt());
        assert!(Int64(-3).compare(Double(-3.5)).is_gt());
        assert!(Double(-0.0).compare(Int32(0)).is_eq());
        assert!(decimal("1.00").compare(Int32(1)).is_eq());
        assert!(decimal("9223372036854775807").compare(Int64(i64::MAX)).is_eq());
        assert!(decimal("9223372036854775807.5").compare(Int64(i64::MAX)).is_gt());
        assert!(Double(f64::NAN).compare(Double(f64::NEG_INFINITY)).is_lt());
        assert!(decimal("NaN").compare(Double(f64::NAN)).is_eq());
        assert!(Double(f64::NAN).compare(Int32(0)).is_lt());
        assert!(Int64(0).compare(Double(f64::NAN)).is_gt());
    }

    #[test]
    fn conversions_say_what_does_not_fit() {
        assert_eq!(Double(5.0).to_i64_exact(), Some(5));
        assert_eq!(Double(5.5).to_i64_exact(), None);
        assert_eq!(Double(5.5).to_i64_truncated(), Some(5));
        assert_eq!(Double(-5.5).to_i64_truncated(), Some(-5));
        assert_eq!(Double(INT64_END).to_i64_exact(), None);
        assert_eq!(Double(f64::NAN).to_i64_saturated(), 0);
        assert_eq!(Double(-1e300).to_i64_saturated(), i64::MIN);
        assert_eq!(decimal("5.00").to_i64_exact(), Some(5));
        assert_eq!(decimal("5.01").to_i64_exact(), None);
        assert_eq!(decimal("-5.99").to_i64_truncated(), Some(-5));
        assert_eq!(decimal("1E-100").to_i64_truncated(), Some(0));
        assert_eq!(decimal("1E+100").to_i64_saturated(), i64::MAX);
        assert!(decimal("1E+100").is_integral());
        assert!(!Double(f64::INFINITY).is_integral());
    }
}
