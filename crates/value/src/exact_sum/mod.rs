//! Sums of numbers that are exact, so that the order does not matter and a number can be taken
//! out again without a trace.
//!
//! Integers are summed as an integer, doubles in a wide fixed-point number (`doubles`), decimals
//! by their exponent (`decimals`). What is not finite is only counted. Nothing is rounded until
//! the sum or the average is asked for, and then once.

mod big;
mod decimals;
mod doubles;
mod form;
mod round;
#[cfg(test)]
mod tests;

use crate::Number;
use crate::decimal::Decimal;
use big::Big;
use bson::RawBson;
use decimals::{Decimals, Term};
use doubles::Doubles;

/// The exact sum of a bag of numbers. Zeros have no sign in it, as `$sum` begins with 0.
///
/// Counts may be below zero for a while: a sum of changes, for `merge`, may remove what another
/// one has added.
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    int32s: i64,
    int64s: i64,
    /// How many doubles, whatever they are.
    doubles: i64,
    integers: i128,
    fractions: Doubles,
    /// What most sums have nothing of.
    rare: Option<Box<Rare>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Rare {
    doubles: Special,
    decimals: Special,
    finite: Decimals,
}

/// How many numbers of one type are not finite.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Special {
    nan: i64,
    infinite: i64,
    negative_infinite: i64,
}

/// A number that stands for a sum that is not finite.
enum Limit {
    NaN,
    Infinity { negative: bool },
}

impl ExactSum {
    #[inline]
    pub fn add(&mut self, number: Number) {
        match number {
            Number::Int32(value) => {
                self.int32s += 1;
                self.integers += i128::from(value);
            }
            Number::Int64(value) => {
                self.int64s += 1;
                self.integers += i128::from(value);
            }
            Number::Double(value) => self.double(value, value, 1),
            Number::Decimal(value) => self.decimal(Decimal::read(value), 1),
        }
    }

    /// Takes out a number that was added, or will be.
    #[inline]
    pub fn remove(&mut self, number: Number) {
        match number {
            Number::Int32(value) => {
                self.int32s -= 1;
                self.integers -= i128::from(value);
            }
            Number::Int64(value) => {
                self.int64s -= 1;
                self.integers -= i128::from(value);
            }
            Number::Double(value) => self.double(value, -value, -1),
            Number::Decimal(value) => self.decimal(Decimal::read(value), -1),
        }
    }

    /// Adds all that the other has added, and removes what it has removed.
    pub fn merge(&mut self, other: &ExactSum) {
        self.int32s += other.int32s;
        self.int64s += other.int64s;
        self.doubles += other.doubles;
        self.integers += other.integers;
        self.fractions.merge(&other.fractions);
        if let Some(other) = &other.rare {
            let rare = self.rare.get_or_insert_default();
            rare.doubles.merge(other.doubles);
            rare.decimals.merge(other.decimals);
            rare.finite.merge(&other.finite);
        }
    }

    /// How many numbers there are.
    pub fn count(&self) -> i64 {
        self.int32s + self.int64s + self.doubles + self.decimals()
    }

    /// The sum as `$sum` gives it: of the widest type that is in it, integers that outgrow
    /// int64 as a double; int32 0 for no numbers.
    pub fn sum(&self) -> RawBson {
        if self.decimals() > 0 {
            return RawBson::Decimal128(self.as_decimal(1).write());
        }
        if self.doubles > 0 {
            return RawBson::Double(self.as_double(1));
        }
        match i64::try_from(self.integers) {
            Ok(sum) if self.int64s == 0 => Number::from_i64(sum).to_value(),
            Ok(sum) => RawBson::Int64(sum),
            Err(_) => RawBson::Double(self.integers as f64),
        }
    }

    /// The average as `$avg` gives it: a double, or a decimal if there is any; null for no
    /// numbers.
    pub fn avg(&self) -> RawBson {
        match u64::try_from(self.count()) {
            Err(_) | Ok(0) => RawBson::Null,
            Ok(count) if self.decimals() > 0 => RawBson::Decimal128(self.as_decimal(count).write()),
            Ok(count) => RawBson::Double(self.as_double(count)),
        }
    }

    /// The memory that it takes beside its own size.
    #[inline]
    pub fn bytes(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |rare| size_of::<Rare>() + rare.finite.bytes());
        self.fractions.bytes() + rare
    }

    /// Counts a double and adds what it changes the sum by.
    #[inline]
    fn double(&mut self, value: f64, change: f64, count: i64) {
        self.doubles += count;
        if value.is_finite() {
            self.fractions.add(change);
        } else {
            let special = &mut self.rare.get_or_insert_default().doubles;
            *special.count(value.is_nan(), value < 0.0) += count;
        }
    }

    fn decimal(&mut self, value: Decimal, count: i64) {
        let rare = self.rare.get_or_insert_default();
        match value {
            Decimal::Finite { negative, coefficient, exponent } => {
                let raises = negative != (count > 0);
                rare.finite.add(exponent, coefficient, raises, count);
            }
            value => {
                *rare.decimals.count(value == Decimal::NaN, value.is_negative()) += count;
            }
        }
    }

    /// How many decimals, whatever they are.
    fn decimals(&self) -> i64 {
        self.rare.as_ref().map_or(0, |rare| rare.decimals.total() + rare.finite.count())
    }

    /// The sum where a number in it is not finite.
    fn limit(&self) -> Option<Limit> {
        let rare = self.rare.as_ref()?;
        let mut special = rare.doubles;
        special.merge(rare.decimals);
        match (special.nan > 0, special.infinite > 0, special.negative_infinite > 0) {
            (false, false, false) => None,
            (false, true, false) => Some(Limit::Infinity { negative: false }),
            (false, false, true) => Some(Limit::Infinity { negative: true }),
            _ => Some(Limit::NaN),
        }
    }

    /// The sum without decimals, divided.
    fn as_double(&self, divisor: u64) -> f64 {
        /// Up to here integers are doubles, whose quotient is rounded once.
        const EXACT_MAX: u128 = 1 << 53;
        match self.limit() {
            Some(Limit::NaN) => return f64::NAN,
            Some(Limit::Infinity { negative }) if negative => return f64::NEG_INFINITY,
            Some(Limit::Infinity { .. }) => return f64::INFINITY,
            None => {}
        }
        let small = self.integers.unsigned_abs().max(divisor.into()) <= EXACT_MAX;
        if self.fractions.is_unused() && small {
            return self.integers as f64 / divisor as f64;
        }
        let (negative, magnitude, exponent) = self.fractions.with_integer(self.integers).read();
        let magnitude = round::to_f64(magnitude, exponent, divisor);
        if negative { -magnitude } else { magnitude }
    }

    /// The sum as a decimal, divided.
    fn as_decimal(&self, divisor: u64) -> Decimal {
        match self.limit() {
            Some(Limit::NaN) => return Decimal::NaN,
            Some(Limit::Infinity { negative }) => return Decimal::Infinity { negative },
            None => {}
        }
        let integers = Big::from(self.integers.unsigned_abs());
        let mut terms = vec![Term::new(self.integers < 0, integers, 0)];
        terms.extend(self.fractions.as_term());
        terms.extend(self.rare.iter().flat_map(|rare| rare.finite.terms()));
        let Term { negative, magnitude, exponent } = decimals::total(terms);
        round::to_decimal(negative, magnitude, exponent, divisor)
    }
}

impl Special {
    /// The count that a number belongs to that is not finite.
    fn count(&mut self, nan: bool, negative: bool) -> &mut i64 {
        match (nan, negative) {
            (true, _) => &mut self.nan,
            (false, false) => &mut self.infinite,
            (false, true) => &mut self.negative_infinite,
        }
    }

    fn total(&self) -> i64 {
        self.nan + self.infinite + self.negative_infinite
    }

    fn merge(&mut self, other: Special) {
        self.nan += other.nan;
        self.infinite += other.infinite;
        self.negative_infinite += other.negative_infinite;
    }
}
