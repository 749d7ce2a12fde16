//! `$percentile` and `$median` over a moving window: the numbers are kept sorted.

use super::Slide;
use crate::aggregate::accumulators::percentile::Wanted;
use bson::{RawBson, RawDocument};
use error::Result;
use std::collections::VecDeque;
use value::Number;

#[derive(Debug)]
pub struct Quantiles {
    wanted: Wanted,
    entered: VecDeque<Option<f64>>,
    sorted: Vec<f64>,
}

impl Quantiles {
    pub fn new(wanted: Wanted) -> Quantiles {
        Quantiles { wanted, entered: VecDeque::new(), sorted: Vec::new() }
    }

    fn place(&self, number: f64) -> usize {
        self.sorted.partition_point(|other| other.total_cmp(&number).is_lt())
    }
}

impl Slide for Quantiles {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        let number = value.and_then(|value| Number::from_value(value.as_raw_bson_ref()));
        let number = number.map(Number::to_f64).filter(|number| !number.is_nan());
        if let Some(number) = number {
            self.sorted.insert(self.place(number), number);
        }
        self.entered.push_back(number);
        Ok(())
    }

    fn remove(&mut self) {
        if let Some(Some(number)) = self.entered.pop_front() {
            self.sorted.remove(self.place(number));
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(self.wanted.of_sorted(&self.sorted)))
    }

    fn bytes(&self) -> usize {
        self.entered.len() * size_of::<Option<f64>>() + self.sorted.len() * size_of::<f64>()
    }
}
