//! `$integral`: the area under the curve over the window, by trapezoids.

use super::derivative::Slope;
use super::{Bounds, Function, Partition, Specification};
use crate::Needs;
use bson::RawBson;
use error::Result;

#[derive(Debug)]
struct Integral {
    slope: Slope,
    bounds: Bounds,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    let slope = Slope::parse(function)?;
    Ok(Box::new(Integral { slope, bounds: Bounds::parse(function)? }))
}

impl Function for Integral {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let points = self.slope.points(partition)?;
        let ranges = self.bounds.ranges(partition)?;
        let values = ranges.into_iter().map(|range| {
            let known: Vec<(f64, f64)> =
                points[range].iter().filter_map(|(at, value)| Some((*at, (*value)?))).collect();
            if known.is_empty() {
                return Some(RawBson::Null);
            }
            let area = known.windows(2).map(|pair| match pair {
                [(from, first), (to, last)] => (to - from) * (first + last) / 2.0,
                _ => 0.0,
            });
            Some(RawBson::Double(area.sum()))
        });
        Ok(values.collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.needs(needs);
    }
}
