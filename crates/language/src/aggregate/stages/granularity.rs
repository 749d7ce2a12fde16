//! Series of preferred numbers, which `$bucketAuto` rounds its bounds to.

use crate::aggregate::expressions::{coerce, decimal};
use bson::RawBson;
use dec::{Context, Decimal128};
use error::{Code, Result};
use value::Number;

/// A series from its first number up to, and without, ten times that.
struct Series {
    name: &'static str,
    numbers: &'static [i32],
}

const fn series(name: &'static str, numbers: &'static [i32]) -> Series {
    Series { name, numbers }
}

/// As MongoDB has them: R40 is without 335, R80 holds only what it adds to R40,
/// and E192 has 920 where a root of ten gives 919.
const SERIES: &[Series] = &[
    series("1-2-5", &[10, 20, 50]),
    series("E6", &[10, 15, 22, 33, 47, 68]),
    series("E12", &[10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82]),
    series(
        "E24",
        &[
            10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75,
            82, 91,
        ],
    ),
    series(
        "E48",
        &[
            100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169, 178, 187, 196, 205, 215,
            226, 237, 249, 261, 274, 287, 301, 316, 332, 348, 365, 383, 402, 422, 442, 464, 487,
            511, 536, 562, 590, 619, 649, 681, 715, 750, 787, 825, 866, 909, 953,
        ],
    ),
    series(
        "E96",
        &[
            100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143, 147,
            150, 154, 158, 162, 165, 169, 174, 178, 182, 187, 191, 196, 200, 205, 210, 215, 221,
            226, 232, 237, 243, 249, 255, 261, 267, 274, 280, 287, 294, 301, 309, 316, 324, 332,
            340, 348, 357, 365, 374, 383, 392, 402, 412, 422, 432, 442, 453, 464, 475, 487, 499,
            511, 523, 536, 549, 562, 576, 590, 604, 619, 634, 649, 665, 681, 698, 715, 732, 750,
            768, 787, 806, 825, 845, 866, 887, 909, 931, 953, 976,
        ],
    ),
    series(
        "E192",
        &[
            100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121,
            123, 124, 126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149,
            150, 152, 154, 156, 158, 160, 162, 164, 165, 167, 169, 172, 174, 176, 178, 180, 182,
            184, 187, 189, 191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223,
            226, 229, 232, 234, 237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274,
            277, 280, 284, 287, 291, 294, 298, 301, 305, 309, 312, 316, 320, 324, 328, 332, 336,
            340, 344, 348, 352, 357, 361, 365, 370, 374, 379, 383, 388, 392, 397, 402, 407, 412,
            417, 422, 427, 432, 437, 442, 448, 453, 459, 464, 470, 475, 481, 487, 493, 499, 505,
            511, 517, 523, 530, 536, 542, 549, 556, 562, 569, 576, 583, 590, 597, 604, 612, 619,
            626, 634, 642, 649, 657, 665, 673, 681, 690, 698, 706, 715, 723, 732, 741, 750, 759,
            768, 777, 787, 796, 806, 816, 825, 835, 845, 856, 866, 876, 887, 898, 909, 920, 931,
            942, 953, 965, 976, 988,
        ],
    ),
    series("R5", &[10, 16, 25, 40, 63]),
    series("R10", &[100, 125, 160, 200, 250, 315, 400, 500, 630, 800]),
    series(
        "R20",
        &[
            100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630,
            710, 800, 900,
        ],
    ),
    series(
        "R40",
        &[
            100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250,
            265, 280, 300, 315, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710,
            750, 800, 850, 900, 950,
        ],
    ),
    series(
        "R80",
        &[
            103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258,
            272, 290, 307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690,
            730, 775, 825, 875, 925, 975,
        ],
    ),
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Granularity {
    PowersOfTwo,
    Series(&'static [i32]),
}

/// A number that a series is scaled in: doubles and decimals each keep to their
/// own arithmetic.
trait Scaled: Copy {
    fn of(number: i32) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn less(self, other: Self) -> bool;
}

impl Scaled for f64 {
    fn of(number: i32) -> f64 {
        number.into()
    }

    fn times(self, other: f64) -> f64 {
        self * other
    }

    fn over(self, other: f64) -> f64 {
        self / other
    }

    fn less(self, other: f64) -> bool {
        self < other
    }
}

impl Scaled for Decimal128 {
    fn of(number: i32) -> Decimal128 {
        number.into()
    }

    fn times(self, other: Decimal128) -> Decimal128 {
        Context::<Decimal128>::default().mul(self, other)
    }

    fn over(self, other: Decimal128) -> Decimal128 {
        Context::<Decimal128>::default().div(self, other)
    }

    fn less(self, other: Decimal128) -> bool {
        self < other
    }
}

impl Granularity {
    pub fn parse(name: &str) -> Result<Granularity> {
        if name == "POWERSOF2" {
            return Ok(Granularity::PowersOfTwo);
        }
        match SERIES.iter().find(|series| series.name == name) {
            Some(series) => Ok(Granularity::Series(series.numbers)),
            None => {
                Err(Code::location(40257).error(format!("Unknown rounding granularity '{name}'")))
            }
        }
    }

    /// The least number of the series above a number.
    pub fn round_up(&self, number: Number) -> RawBson {
        self.round(number, up::<f64>, up::<Decimal128>, |log| log.floor() as i32 + 1)
    }

    /// The greatest number of the series below a number.
    pub fn round_down(&self, number: Number) -> RawBson {
        self.round(number, down::<f64>, down::<Decimal128>, |log| log.ceil() as i32 - 1)
    }

    fn round(
        &self,
        number: Number,
        double: fn(&[i32], f64) -> f64,
        exact: fn(&[i32], Decimal128) -> Decimal128,
        power: fn(f64) -> i32,
    ) -> RawBson {
        if number.is_zero() || !number.is_finite() {
            return number.to_value();
        }
        match (self, number) {
            (Granularity::Series(series), Number::Decimal(number)) => {
                decimal::value(exact(series, decimal::decode(number)))
            }
            (Granularity::Series(series), number) => {
                RawBson::Double(double(series, number.to_f64()))
            }
            (Granularity::PowersOfTwo, number) => {
                power_of_two(power(number.to_f64().log2()), number.is_decimal())
            }
        }
    }
}

fn up<T: Scaled>(series: &[i32], number: T) -> T {
    let (Some(first), Some(last)) = (series.first(), series.last()) else { return number };
    let (first, last, ten) = (T::of(*first), T::of(*last), T::of(10));
    let mut scale = T::of(1);
    while !number.less(last.times(scale)) {
        scale = scale.times(ten);
    }
    while number.less(first.times(scale)) {
        let above = first.times(scale);
        scale = scale.over(ten);
        // Between the end of one decade and the start of the next.
        if !number.less(last.times(scale)) {
            return above;
        }
    }
    let mut scaled = series.iter().map(|member| T::of(*member).times(scale));
    scaled.find(|member| number.less(*member)).unwrap_or(number)
}

fn down<T: Scaled>(series: &[i32], number: T) -> T {
    let (Some(first), Some(last)) = (series.first(), series.last()) else { return number };
    let (first, last, ten) = (T::of(*first), T::of(*last), T::of(10));
    let mut scale = T::of(1);
    while !first.times(scale).less(number) {
        scale = scale.over(ten);
    }
    while last.times(scale).less(number) {
        let below = last.times(scale);
        scale = scale.times(ten);
        // At the least numbers there is nothing left to scale.
        if !first.times(scale).less(number) || !below.less(last.times(scale)) {
            return below;
        }
    }
    let mut scaled = series.iter().rev().map(|member| T::of(*member).times(scale));
    scaled.find(|member| member.less(number)).unwrap_or(number)
}

/// Whole where it is a whole number that fits, a decimal for decimals.
fn power_of_two(power: i32, is_decimal: bool) -> RawBson {
    let value = 2f64.powi(power);
    if is_decimal {
        return decimal::value(decimal::from_f64_exact(value));
    }
    match Number::Double(value).to_i64_exact() {
        Some(whole) => coerce::int_or_long(whole),
        None => RawBson::Double(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_series() {
        let fives = Granularity::parse("1-2-5").unwrap();
        assert_eq!(fives.round_up(Number::Int32(3)), RawBson::Double(5.0));
        assert_eq!(fives.round_up(Number::Int32(5)), RawBson::Double(10.0));
        assert_eq!(fives.round_down(Number::Int32(10)), RawBson::Double(5.0));
        assert_eq!(fives.round_down(Number::Double(0.3)), RawBson::Double(0.2));
        let exact = fives.round_up(Number::Decimal("3".parse().unwrap()));
        assert_eq!(exact, RawBson::Decimal128("5.0".parse().unwrap()));
        let powers = Granularity::parse("POWERSOF2").unwrap();
        assert_eq!(powers.round_up(Number::Int32(4)), RawBson::Int32(8));
        assert_eq!(powers.round_down(Number::Int32(4)), RawBson::Int32(2));
        assert_eq!(powers.round_up(Number::Int32(0)), RawBson::Int32(0));
        assert!(Granularity::parse("X").is_err());
    }

    #[test]
    fn series_ascend_within_a_decade() {
        for series in SERIES {
            assert!(series.numbers.is_sorted(), "{}", series.name);
            assert!(series.numbers[series.numbers.len() - 1] < 10 * series.numbers[0]);
        }
    }

    #[test]
    fn very_small_and_very_large_numbers_end() {
        for name in ["R5", "R80", "POWERSOF2"] {
            let granularity = Granularity::parse(name).unwrap();
            for number in [f64::MIN_POSITIVE, 5e-324, f64::MAX] {
                granularity.round_up(Number::Double(number));
                granularity.round_down(Number::Double(number));
            }
        }
    }
}
