//! `$linearFill`: nulls filled on the line between the known values around them.

use super::{Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::{Number, Value};

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

/// Where a document is on the line.
fn place(value: Option<RawBsonRef<'_>>) -> Result<f64> {
    let place = match value {
        Some(RawBsonRef::DateTime(date)) => Some(date.timestamp_millis() as f64),
        value => coerce::number(value).map(Number::to_f64),
    };
    place.ok_or_else(|| {
        Code::TypeMismatch.error(format!(
            "$linearFill requires the sortBy field to be a number or a date, but it was {}",
            coerce::type_name(value)
        ))
    })
}

impl Function for LinearFill {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut places = Vec::new();
        let mut values = Vec::new();
        for document in partition.documents {
            let at = place(partition.sort_value(document).as_ref().map(Value::get))?;
            if places.last() == Some(&at) {
                return Err(Code::location(6050106)
                    .error("There can be no repeated values in the sort field"));
            }
            places.push(at);
            let value = self.0.evaluate_owned(document)?;
            let value = value.filter(|value| !coerce::is_nullish(Some(value.as_raw_bson_ref())));
            if let Some(value) = &value
                && coerce::number(Some(value.as_raw_bson_ref())).is_none()
            {
                return Err(Code::TypeMismatch.error(format!(
                    "Value to be filled must be numeric or nullish, but found type: {}",
                    coerce::type_name(Some(value.as_raw_bson_ref()))
                )));
            }
            values.push(value);
        }
        let known: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_some()).collect();
        let number = |at: usize| {
            let value = values[at].as_ref().map(RawBson::as_raw_bson_ref);
            coerce::number(value).map_or(f64::NAN, Number::to_f64)
        };
        let filled = (0..values.len()).map(|at| {
            if let Some(value) = &values[at] {
                return Some(value.clone());
            }
            let next = known.partition_point(|known| *known < at);
            let (Some(before), Some(behind)) =
                (next.checked_sub(1).and_then(|i| known.get(i)), known.get(next))
            else {
                return Some(RawBson::Null);
            };
            let share = (places[at] - places[*before]) / (places[*behind] - places[*before]);
            let value = number(*before) + (number(*behind) - number(*before)) * share;
            Some(RawBson::Double(value))
        });
        Ok(filled.collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.0.needs(needs);
    }
}
