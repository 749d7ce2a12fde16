//! Sums of what `$covariancePop`, `$integral` and the like compute: integers exactly, doubles with
//! the rounding error carried along, decimals apart. `$sum` and `$avg` are exact (`value::ExactSum`).

use crate::aggregate::expressions::{coerce, decimal};
use bson::RawBson;
use dec::{Context, Decimal128};
use value::Number;

/// The type of a number, from narrow to wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    Int32,
    Int64,
    Double,
    Decimal,
}

impl Width {
    pub const COUNT: usize = 4;
    pub const ALL: [Width; Width::COUNT] =
        [Width::Int32, Width::Int64, Width::Double, Width::Decimal];

    pub fn of(number: Number) -> Width {
        match number {
            Number::Int32(_) => Width::Int32,
            Number::Int64(_) => Width::Int64,
            Number::Double(_) => Width::Double,
            Number::Decimal(_) => Width::Decimal,
        }
    }
}

/// A running sum.
#[derive(Debug, Clone)]
pub struct Summation {
    integers: i128,
    doubles: DoubleDouble,
    decimals: Option<Decimal128>,
    width: Width,
}

impl Default for Summation {
    fn default() -> Self {
        Summation {
            integers: 0,
            doubles: DoubleDouble::default(),
            decimals: None,
            width: Width::Int32,
        }
    }
}

impl Summation {
    pub fn add(&mut self, number: Number) {
        match number {
            Number::Int32(value) => self.integers += i128::from(value),
            Number::Int64(value) => self.integers += i128::from(value),
            Number::Double(value) => self.doubles.add(value),
            Number::Decimal(value) => {
                let sum = self.decimals.unwrap_or(Decimal128::from(0));
                let mut context = Context::<Decimal128>::default();
                self.decimals = Some(context.add(sum, decimal::decode(value)));
            }
        }
        self.width = self.width.max(Width::of(number));
    }

    /// Takes a number back out; exact for integers and decimals.
    pub fn remove(&mut self, number: Number) {
        match number {
            Number::Int32(value) => self.integers -= i128::from(value),
            Number::Int64(value) => self.integers -= i128::from(value),
            Number::Double(value) => self.doubles.add(-value),
            Number::Decimal(value) => {
                let sum = self.decimals.unwrap_or(Decimal128::from(0));
                let mut context = Context::<Decimal128>::default();
                self.decimals = Some(context.sub(sum, decimal::decode(value)));
            }
        }
    }

    /// Says that all numbers of a width are out again, so that no rounding error of theirs
    /// stays.
    pub fn clear(&mut self, width: Width) {
        match width {
            Width::Int32 | Width::Int64 => {}
            Width::Double => self.doubles = DoubleDouble::default(),
            Width::Decimal => self.decimals = None,
        }
    }

    /// The same sum, given as a number of this width.
    pub fn of_width(self, width: Width) -> Summation {
        Summation { width, ..self }
    }

    /// The sum divided.
    pub fn mean(&self, count: usize) -> RawBson {
        if self.width == Width::Decimal {
            let mut context = Context::<Decimal128>::default();
            let count = context.from_i128(count as i128);
            return decimal::value(context.div(self.decimal(), count));
        }
        RawBson::Double(self.double() / count as f64)
    }

    /// The sum, of the widest type seen; integers that outgrow int64 are double.
    pub fn total(&self) -> RawBson {
        match self.width {
            Width::Int32 | Width::Int64 => match i64::try_from(self.integers) {
                Ok(total) if self.width == Width::Int32 => coerce::int_or_long(total),
                Ok(total) => RawBson::Int64(total),
                Err(_) => RawBson::Double(self.integers as f64),
            },
            Width::Double => RawBson::Double(self.double()),
            Width::Decimal => decimal::value(self.decimal()),
        }
    }

    pub fn double(&self) -> f64 {
        let mut sum = self.doubles.clone();
        if self.integers != 0 {
            let high = self.integers as f64;
            sum.add(high);
            sum.add((self.integers - high as i128) as f64);
        }
        sum.value()
    }

    pub fn decimal(&self) -> Decimal128 {
        let mut context = Context::<Decimal128>::default();
        let mut sum = self.decimals.unwrap_or(Decimal128::from(0));
        if self.integers != 0 {
            let integers = context.from_i128(self.integers);
            sum = context.add(sum, integers);
        }
        if self.doubles.used {
            sum = context.add(sum, decimal::from_f64_exact(self.doubles.value()));
            sum = context.add(sum, decimal::from_f64_exact(self.doubles.rest()));
        }
        sum
    }
}

/// A sum of doubles with its rounding error kept in a second double.
#[derive(Debug, Clone, Default)]
pub struct DoubleDouble {
    sum: f64,
    error: f64,
    /// The plain sum, for infinities and NaN.
    plain: f64,
    used: bool,
}

impl DoubleDouble {
    pub fn add(&mut self, value: f64) {
        self.used = true;
        self.plain += value;
        let sum = self.sum + value;
        let virtual_value = sum - self.sum;
        let error = (self.sum - (sum - virtual_value)) + (value - virtual_value) + self.error;
        self.sum = sum + error;
        self.error = error - (self.sum - sum);
    }

    pub fn value(&self) -> f64 {
        if self.sum.is_nan() { self.plain } else { self.sum }
    }

    fn rest(&self) -> f64 {
        if self.sum.is_finite() && self.error.is_finite() { self.error } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[Number]) -> RawBson {
        let mut sum = Summation::default();
        numbers.iter().for_each(|number| sum.add(*number));
        sum.total()
    }

    #[test]
    fn types_widen() {
        use Number::{Decimal, Double, Int32, Int64};
        assert_eq!(sum(&[]), RawBson::Int32(0));
        assert_eq!(sum(&[Int32(i32::MAX), Int32(1)]), RawBson::Int64(1 << 31));
        assert_eq!(sum(&[Int32(1), Int64(1)]), RawBson::Int64(2));
        assert_eq!(sum(&[Int64(i64::MAX), Int64(1)]), RawBson::Double(i64::MAX as f64));
        assert_eq!(sum(&[Int32(1), Double(0.5)]), RawBson::Double(1.5));
        let tenth = "0.1".parse().unwrap();
        assert_eq!(sum(&[Int32(1), Decimal(tenth)]), RawBson::Decimal128("1.1".parse().unwrap()));
    }

    #[test]
    fn rounding_errors_are_carried() {
        let tenths = vec![Number::Double(0.1); 10];
        assert_eq!(sum(&tenths), RawBson::Double(1.0));
        let large = [Number::Double(1e100), Number::Double(1.0), Number::Double(-1e100)];
        assert_eq!(sum(&large), RawBson::Double(1.0));
        let infinite = [Number::Double(f64::INFINITY), Number::Double(1.0)];
        assert_eq!(sum(&infinite), RawBson::Double(f64::INFINITY));
    }
}
