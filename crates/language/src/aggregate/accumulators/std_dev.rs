//! `$stdDevPop` and `$stdDevSamp`: the standard deviation of numbers.

use super::sliding::Deviation;
use super::{Accumulation, Accumulator};
use crate::Context;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use value::Number;

/// Welford's running mean and sum of squares.
#[derive(Debug, Default)]
pub struct StdDev {
    sample: bool,
    count: f64,
    mean: f64,
    squares: f64,
}

pub fn parse(name: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let accumulation = match name {
        "$stdDevPop" => Accumulation::unary(value, context, || StdDev::new(false))?,
        _ => Accumulation::unary(value, context, || StdDev::new(true))?,
    };
    let sample = name != "$stdDevPop";
    Ok(accumulation.sliding(move || Deviation::new(sample)))
}

impl StdDev {
    pub fn new(sample: bool) -> StdDev {
        StdDev { sample, ..StdDev::default() }
    }
}

impl Accumulator for StdDev {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(number) = value.and_then(Number::from_value).map(Number::to_f64) {
            self.count += 1.0;
            let delta = number - self.mean;
            if delta != 0.0 {
                self.mean += delta / self.count;
                self.squares += delta * (number - self.mean);
            }
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let divisor = if self.sample { self.count - 1.0 } else { self.count };
        Ok(Some(if divisor <= 0.0 {
            RawBson::Null
        } else {
            RawBson::Double((self.squares / divisor).sqrt())
        }))
    }
}
