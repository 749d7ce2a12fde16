//! `$sum` and `$avg` over a moving window.

use super::Slide;
use bson::{RawBson, RawDocument};
use error::Result;
use std::collections::VecDeque;
use value::{ExactSum, Number};

/// The sum or the average of a window.
#[derive(Debug)]
pub struct Total {
    average: bool,
    entered: VecDeque<Option<Number>>,
    sum: ExactSum,
}

impl Total {
    pub fn sum() -> Total {
        Total { average: false, entered: VecDeque::new(), sum: ExactSum::default() }
    }

    pub fn average() -> Total {
        Total { average: true, ..Total::sum() }
    }
}

impl Slide for Total {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        let number = value.and_then(|value| Number::from_value(value.as_raw_bson_ref()));
        if let Some(number) = number {
            self.sum.add(number);
        }
        self.entered.push_back(number);
        Ok(())
    }

    fn remove(&mut self) {
        if let Some(Some(number)) = self.entered.pop_front() {
            self.sum.remove(number);
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(match self.average {
            true => self.sum.avg(),
            false => self.sum.sum(),
        }))
    }

    fn bytes(&self) -> usize {
        self.entered.len() * size_of::<Option<Number>>() + self.sum.bytes()
    }
}
