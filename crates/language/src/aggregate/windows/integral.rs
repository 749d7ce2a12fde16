//! `$integral`: the area under the curve over the window, by trapezoids.

use super::arithmetic::{Place, add, multiply, subtract};
use super::derivative::{Slope, check_sort};
use super::passage::{Change, Passage};
use super::window::Frame;
use super::{Function, Run, Specification};
use crate::Needs;
use crate::aggregate::accumulators::sliding::Removable;
use crate::aggregate::expressions::coerce;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use value::Number;

#[derive(Debug)]
struct Integral {
    slope: Slope,
    frame: Frame,
}

/// Where a document stands, and its value there.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: Number,
    value: Number,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    check_sort(function)?;
    let frame = Frame::parse(function)?;
    Ok(Arc::new(Integral { slope: Slope::parse(function)?, frame }))
}

impl Point {
    fn is_nan(self) -> bool {
        self.at.is_nan() || self.value.is_nan()
    }
}

impl Integral {
    fn point(&self, document: &RawDocument) -> Result<Point> {
        let value = self.slope.input.evaluate_owned(document)?;
        let value = coerce::number(value.as_ref().map(RawBson::as_raw_bson_ref));
        let (Some(value), Ok(at)) = (value, self.frame.places.of(document)) else {
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
}

/// The area between two points.
fn trapezoid(first: Point, last: Point) -> Number {
    let width = subtract(last.at, first.at);
    multiply(add(last.value, first.value), width).divide(Number::Double(2.0))
}

impl Function for Integral {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        let growing = self.frame.bounds.is_growing();
        let area = Area { growing, ..Area::default() };
        Ok(Box::new(Running {
            passage: Passage::new(&self.frame),
            function: self,
            area,
            value: RawBson::Null,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.input.needs(needs);
    }
}

/// The area under the points of a window.
#[derive(Debug, Default)]
struct Area {
    /// Whether no point ever leaves, so that only the last is kept.
    growing: bool,
    points: VecDeque<Point>,
    not_a_number: usize,
    sum: Removable,
}

impl Area {
    fn enter(&mut self, point: Point) {
        if let Some(before) = self.points.back() {
            self.sum.add(trapezoid(*before, point));
        }
        self.not_a_number += usize::from(point.is_nan());
        if self.growing {
            self.points.clear();
        }
        self.points.push_back(point);
    }

    fn leave(&mut self) {
        let Some(point) = self.points.pop_front() else { return };
        self.not_a_number -= usize::from(point.is_nan());
        if let Some(next) = self.points.front() {
            self.sum.remove(trapezoid(point, *next));
        }
    }

    fn value(&self, unit_millis: Option<i64>) -> RawBson {
        if self.points.is_empty() {
            return RawBson::Null;
        }
        if self.not_a_number > 0 {
            return RawBson::Double(f64::NAN);
        }
        let total = self.sum.total();
        match (unit_millis, Number::from_value(total.as_raw_bson_ref())) {
            (Some(unit), Some(total)) => total.divide(Number::Int64(unit)).to_value(),
            _ => total,
        }
    }
}

struct Running {
    function: Arc<Integral>,
    passage: Passage<Point>,
    area: Area,
    value: RawBson,
}

impl Run for Running {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let point = self.function.point(document)?;
        if let Some(point) = self.passage.take(document, point)? {
            self.area.enter(point);
        }
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let area = &mut self.area;
        let window = self.passage.advance(ended, |change| {
            match change {
                Change::Enter(point) => area.enter(point),
                Change::Leave => area.leave(),
                Change::Skip(_) => {}
            }
            Ok(())
        })?;
        self.value = self.area.value(self.function.slope.unit_millis);
        Ok(window.is_some())
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        self.passage.bytes() + self.area.points.len() * size_of::<Point>()
    }
}
