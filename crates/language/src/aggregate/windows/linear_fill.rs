//! `$linearFill`: nulls filled on the line between the known values around them.

use super::arithmetic::{Place, add, multiply, subtract};
use super::{Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::RawBson;
use error::{Code, Result};
use value::Number;

#[derive(Debug)]
struct LinearFill(Expression);

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    function.no_window()?;
    if function.sort.is_none_or(|sort| sort.fields().len() != 1) {
        return Err(Code::location(605001).error(
            "$linearFill must be specified with a top level sortBy expression with exactly one element",
        ));
    }
    Ok(Box::new(LinearFill(Expression::parse(function.operand, function.context)?)))
}

/// A known point.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: Number,
    value: Number,
}

impl Point {
    /// The value at a place on the line to another point.
    fn on_line_to(self, other: Point, at: Number) -> Number {
        let slope = subtract(other.value, self.value).divide(subtract(other.at, self.at));
        add(self.value, multiply(subtract(at, self.at), slope))
    }
}

/// The places of documents: all numbers, or all dates, and none twice.
fn places(partition: &Partition<'_>) -> Result<Vec<Number>> {
    let mut places: Vec<Place> = Vec::new();
    for document in partition.documents {
        let place = partition.place(document).map_err(|found| {
            Code::TypeMismatch.error(format!(
                "Value of the sortBy field must be numeric or a date, but found {found}"
            ))
        })?;
        if let Some(before) = places.last() {
            if before.is_date() != place.is_date() {
                return Err(Code::TypeMismatch.error("Conflicting sort value types"));
            }
            if before.number().compare(place.number()).is_eq() {
                return Err(Code::location(6050106)
                    .error("There can be no repeated values in the sort field"));
            }
        }
        places.push(place);
    }
    Ok(places.into_iter().map(Place::number).collect())
}

impl Function for LinearFill {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let places = places(partition)?;
        let mut values = Vec::new();
        for document in partition.documents {
            let value = self.0.evaluate_owned(document)?;
            let value = value.filter(|value| !coerce::is_nullish(Some(value.as_raw_bson_ref())));
            if let Some(value) = &value
                && coerce::number(Some(value.as_raw_bson_ref())).is_none()
            {
                return Err(Code::TypeMismatch.error(format!(
                    "Value to be filled must be numeric or nullish, but found {}",
                    coerce::type_name(Some(value.as_raw_bson_ref()))
                )));
            }
            values.push(value);
        }
        let known: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_some()).collect();
        let point = |at: &usize| {
            let value = values[*at].as_ref().map(RawBson::as_raw_bson_ref);
            Some(Point { at: places[*at], value: coerce::number(value)? })
        };
        let filled = (0..values.len()).map(|at| {
            if let Some(value) = &values[at] {
                return Some(value.clone());
            }
            let next = known.partition_point(|known| *known < at);
            let before = next.checked_sub(1).and_then(|before| known.get(before)).and_then(point);
            Some(match (before, known.get(next).and_then(point)) {
                (Some(before), Some(behind)) => before.on_line_to(behind, places[at]).to_value(),
                _ => RawBson::Null,
            })
        });
        Ok(filled.collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.0.needs(needs);
    }
}
