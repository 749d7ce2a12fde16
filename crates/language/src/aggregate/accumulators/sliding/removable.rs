//! Sums of what windows compute from their documents. It may leave as a slightly other number than
//! it came, so that an exact sum would keep the difference.

use crate::aggregate::accumulators::summation::{Summation, Width};
use bson::RawBson;
use value::Number;

/// A sum that numbers can be taken out of. What is not finite is counted apart, so that it
/// leaves no trace.
#[derive(Debug, Default)]
pub struct Removable {
    finite: Summation,
    /// How many numbers there are of each width.
    widths: [usize; Width::COUNT],
    not_a_number: usize,
    infinite: usize,
    negative_infinite: usize,
}

impl Removable {
    pub fn add(&mut self, number: Number) {
        self.widths[Width::of(number) as usize] += 1;
        match self.apart(number) {
            Some(count) => *count += 1,
            None => self.finite.add(number),
        }
    }

    pub fn remove(&mut self, number: Number) {
        let width = Width::of(number);
        self.widths[width as usize] -= 1;
        match self.apart(number) {
            Some(count) => *count -= 1,
            None => self.finite.remove(number),
        }
        if self.widths[width as usize] == 0 {
            self.finite.clear(width);
        }
    }

    /// How many numbers are in the sum.
    pub fn count(&self) -> usize {
        self.widths.iter().sum()
    }

    /// The sum, of the widest type that is in it.
    pub fn total(&self) -> RawBson {
        self.sum().total()
    }

    /// `None` for no numbers.
    pub fn mean(&self) -> Option<RawBson> {
        let count = self.count();
        (count > 0).then(|| self.sum().mean(count))
    }

    fn apart(&mut self, number: Number) -> Option<&mut usize> {
        match number {
            number if number.is_nan() => Some(&mut self.not_a_number),
            number if !number.is_infinite() => None,
            number if number.is_negative() => Some(&mut self.negative_infinite),
            _ => Some(&mut self.infinite),
        }
    }

    fn sum(&self) -> Summation {
        let mut sum = self.finite.clone();
        let apart = [
            (self.not_a_number, f64::NAN),
            (self.infinite, f64::INFINITY),
            (self.negative_infinite, f64::NEG_INFINITY),
        ];
        for (_, value) in apart.into_iter().filter(|(count, _)| *count > 0) {
            sum.add(Number::Double(value));
        }
        let widest = Width::ALL.into_iter().rfind(|width| self.widths[*width as usize] > 0);
        sum.of_width(widest.unwrap_or(Width::Int32))
    }
}
