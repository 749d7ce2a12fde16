//! `$integral`: the area under the curve over the window, by trapezoids.

use super::arithmetic::{Place, add, multiply, subtract};
use super::derivative::{Slope, check_sort};
use super::{Bounds, Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::accumulators::summation::Summation;
use crate::aggregate::expressions::coerce;
use bson::{RawBson, RawDocument};
use error::{Code, Result};
use value::Number;

#[derive(Debug)]
struct Integral {
    slope: Slope,
    bounds: Bounds,
}

/// Where a document stands, and its value there.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: Number,
    value: Number,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    check_sort(function)?;
    let bounds = Bounds::parse(function)?;
    Ok(Box::new(Integral { slope: Slope::parse(function)?, bounds }))
}

impl Point {
    fn is_nan(self) -> bool {
        self.at.is_nan() || self.value.is_nan()
    }
}

impl Integral {
    fn point(&self, partition: &Partition<'_>, document: &RawDocument) -> Result<Point> {
        let value = self.slope.input.evaluate_owned(document)?;
        let value = coerce::number(value.as_ref().map(RawBson::as_raw_bson_ref));
        let (Some(value), Ok(at)) = (value, partition.place(document)) else {
            return Err(Code::location(5423900).error(
                "The input value of $integral must be numeric, and the sortBy field numeric or a date",
            ));
        };
        match (at, self.slope.unit_millis) {
            (Place::Number(_), Some(_)) => Err(Code::location(5423901)
                .error("$integral with 'unit' expects the sortBy field to be a Date")),
            (Place::Date(_), None) => Err(Code::location(5423902)
                .error("$integral (with no 'unit') expects the sortBy field to be numeric")),
            (at, _) => Ok(Point { at: at.number(), value }),
        }
    }

    fn area(&self, window: &[Point]) -> RawBson {
        if window.is_empty() {
            return RawBson::Null;
        }
        if window.iter().any(|point| point.is_nan()) {
            return RawBson::Double(f64::NAN);
        }
        let mut area = Summation::default();
        for pair in window.windows(2) {
            let [first, last] = pair else { continue };
            let width = subtract(last.at, first.at);
            let twice = multiply(add(last.value, first.value), width);
            area.add(twice.divide(Number::Double(2.0)));
        }
        let total = area.total();
        match (self.slope.unit_millis, Number::from_value(total.as_raw_bson_ref())) {
            (Some(unit), Some(total)) => total.divide(Number::Int64(unit)).to_value(),
            _ => total,
        }
    }
}

impl Function for Integral {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let points = partition
            .documents
            .iter()
            .map(|document| self.point(partition, document))
            .collect::<Result<Vec<_>>>()?;
        let ranges = self.bounds.ranges(partition)?;
        Ok(ranges.into_iter().map(|range| Some(self.area(&points[range]))).collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.input.needs(needs);
    }
}
