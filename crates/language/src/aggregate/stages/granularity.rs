//! Series of preferred numbers, which `$bucketAuto` rounds its bounds to.

use bson::RawBson;
use error::{Code, Result};
use value::Number;

const R10: [f64; 10] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0];
/// What each finer series of Renard adds to the one before it.
const R20_MORE: [f64; 10] = [1.12, 1.4, 1.8, 2.24, 2.8, 3.55, 4.5, 5.6, 7.1, 9.0];
const R40_MORE: [f64; 20] = [
    1.06, 1.18, 1.32, 1.5, 1.7, 1.9, 2.12, 2.36, 2.65, 3.0, 3.35, 3.75, 4.25, 4.75, 5.3, 6.0, 6.7,
    7.5, 8.5, 9.5,
];
const R80_MORE: [f64; 40] = [
    1.03, 1.09, 1.15, 1.22, 1.28, 1.36, 1.45, 1.55, 1.65, 1.75, 1.85, 1.95, 2.06, 2.18, 2.3, 2.43,
    2.58, 2.72, 2.9, 3.07, 3.25, 3.45, 3.65, 3.87, 4.12, 4.37, 4.62, 4.87, 5.15, 5.45, 5.8, 6.15,
    6.5, 6.9, 7.3, 7.75, 8.25, 8.75, 9.25, 9.75,
];
const E24: [f64; 24] = [
    1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0, 3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6,
    6.2, 6.8, 7.5, 8.2, 9.1,
];

#[derive(Debug, Clone, PartialEq)]
pub enum Granularity {
    PowersOfTwo,
    /// From 1 up to 10, to be multiplied by powers of ten.
    Series(Vec<f64>),
}

impl Granularity {
    pub fn parse(name: &str) -> Result<Granularity> {
        let every = |step: usize| E24.iter().step_by(step).copied().collect();
        let series = match name {
            "POWERSOF2" => return Ok(Granularity::PowersOfTwo),
            "1-2-5" => vec![1.0, 2.0, 5.0],
            "R5" => R10.iter().step_by(2).copied().collect(),
            "R10" => joined(&[&R10]),
            "R20" => joined(&[&R10, &R20_MORE]),
            "R40" => joined(&[&R10, &R20_MORE, &R40_MORE]),
            "R80" => joined(&[&R10, &R20_MORE, &R40_MORE, &R80_MORE]),
            "E6" => every(4),
            "E12" => every(2),
            "E24" => every(1),
            "E48" => computed(48),
            "E96" => computed(96),
            "E192" => computed(192),
            _ => {
                return Err(
                    Code::location(40257).error(format!("Unknown rounding granularity '{name}'"))
                );
            }
        };
        Ok(Granularity::Series(series))
    }

    /// The least number of the series above a number.
    pub fn round_up(&self, number: Number) -> RawBson {
        let value = number.to_f64();
        if value == 0.0 || !value.is_finite() {
            return number.to_value();
        }
        match self {
            Granularity::PowersOfTwo => power_of_two(value.log2().floor() as i32 + 1),
            Granularity::Series(series) => {
                let mut best = f64::INFINITY;
                for power in near(value) {
                    let found = series.iter().map(|member| member * 10f64.powi(power));
                    best = found.filter(|found| *found > value).fold(best, f64::min);
                }
                RawBson::Double(best)
            }
        }
    }

    /// The greatest number of the series below a number.
    pub fn round_down(&self, number: Number) -> RawBson {
        let value = number.to_f64();
        if value == 0.0 || !value.is_finite() {
            return number.to_value();
        }
        match self {
            Granularity::PowersOfTwo => power_of_two(value.log2().ceil() as i32 - 1),
            Granularity::Series(series) => {
                let mut best = f64::NEG_INFINITY;
                for power in near(value) {
                    let found = series.iter().map(|member| member * 10f64.powi(power));
                    best = found.filter(|found| *found < value).fold(best, f64::max);
                }
                RawBson::Double(best)
            }
        }
    }
}

/// The powers of ten around a number.
fn near(value: f64) -> std::ops::RangeInclusive<i32> {
    let power = value.log10().floor() as i32;
    power - 1..=power + 1
}

fn power_of_two(power: i32) -> RawBson {
    let value = 2f64.powi(power);
    match Number::Double(value).to_i64_exact() {
        Some(whole) => crate::aggregate::expressions::coerce::int_or_long(whole),
        None => RawBson::Double(value),
    }
}

fn joined(parts: &[&[f64]]) -> Vec<f64> {
    let mut series = parts.concat();
    series.sort_by(f64::total_cmp);
    series
}

/// The finer E series are powers of a root of ten, to three digits, but for one.
fn computed(steps: i32) -> Vec<f64> {
    (0..steps)
        .map(|at| {
            let exact = 10f64.powf(f64::from(at) / f64::from(steps));
            let rounded = (exact * 100.0).round() / 100.0;
            if steps == 192 && rounded == 9.19 { 9.2 } else { rounded }
        })
        .collect()
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
        let powers = Granularity::parse("POWERSOF2").unwrap();
        assert_eq!(powers.round_up(Number::Int32(4)), RawBson::Int32(8));
        assert_eq!(powers.round_down(Number::Int32(4)), RawBson::Int32(2));
        assert_eq!(powers.round_up(Number::Int32(0)), RawBson::Int32(0));
        assert!(Granularity::parse("X").is_err());
    }
}
