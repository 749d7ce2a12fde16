//! `$stdDevPop` and `$stdDevSamp` over a moving window.

use super::Slide;
use crate::aggregate::accumulators::summation::DoubleDouble;
use bson::{RawBson, RawDocument};
use error::Result;
use std::collections::VecDeque;
use value::Number;

#[derive(Debug, Default)]
pub struct Deviation {
    sample: bool,
    entered: VecDeque<Option<f64>>,
    not_finite: usize,
    count: usize,
    sum: DoubleDouble,
    /// The sum of the squared distances from the mean.
    squares: DoubleDouble,
}

impl Deviation {
    pub fn new(sample: bool) -> Deviation {
        Deviation { sample, ..Deviation::default() }
    }

    /// By how much a number changes the squares of `fewer` others.
    fn share(&self, number: f64, fewer: usize) -> f64 {
        let distance = self.count as f64 * number - self.sum.value();
        distance * distance / (fewer as f64 * (fewer + 1) as f64)
    }

    fn enter(&mut self, number: f64) {
        if self.count > 0 {
            self.squares.add(self.share(number, self.count));
        }
        self.count += 1;
        self.sum.add(number);
    }

    fn leave(&mut self, number: f64) {
        self.squares.add(-self.share(number, self.count - 1));
        self.count -= 1;
        self.sum.add(-number);
        // What is exactly nothing keeps no rounding error.
        if self.count <= 1 {
            self.squares = DoubleDouble::default();
        }
        if self.count == 0 {
            self.sum = DoubleDouble::default();
        }
    }
}

impl Slide for Deviation {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        let number = value.and_then(|value| Number::from_value(value.as_raw_bson_ref()));
        let number = number.map(Number::to_f64);
        match number {
            Some(number) if number.is_finite() => self.enter(number),
            Some(_) => self.not_finite += 1,
            None => {}
        }
        self.entered.push_back(number);
        Ok(())
    }

    fn remove(&mut self) {
        match self.entered.pop_front().flatten() {
            Some(number) if number.is_finite() => self.leave(number),
            Some(_) => self.not_finite -= 1,
            None => {}
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let divisor = if self.sample { self.count.saturating_sub(1) } else { self.count };
        Ok(Some(if self.not_finite > 0 {
            RawBson::Double(f64::NAN)
        } else if divisor == 0 {
            RawBson::Null
        } else {
            // Rounding may leave less than nothing of the squares.
            let squares = if self.count == 1 { 0.0 } else { self.squares.value().max(0.0) };
            RawBson::Double((squares / divisor as f64).sqrt())
        }))
    }

    fn bytes(&self) -> usize {
        self.entered.len() * size_of::<Option<f64>>()
    }
}
