//! `$derivative`: the rate of change over the window.

use super::{Bounds, Function, Partition, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::date::unit::Unit;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::element::elements;
use value::{Number, Value};

#[derive(Debug)]
struct Derivative {
    slope: Slope,
    bounds: Bounds,
}

/// `{input, unit}`, which `$derivative` and `$integral` take.
#[derive(Debug)]
pub struct Slope {
    name: &'static str,
    input: Expression,
    /// The length of the unit that the sort's dates are measured in.
    unit_millis: Option<i64>,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    if function.window.is_none() {
        return Err(failed("$derivative requires explicit window bounds"));
    }
    let slope = Slope::parse(function)?;
    Ok(Box::new(Derivative { slope, bounds: Bounds::parse(function)? }))
}

impl Slope {
    pub fn parse(function: Specification<'_>) -> Result<Slope> {
        let name = function.name;
        let RawBsonRef::Document(document) = function.operand else {
            return Err(failed(format!("{name} expects an object")));
        };
        if function.sort.is_none_or(|sort| sort.fields().len() != 1) {
            return Err(failed(format!("{name} requires a sortBy with exactly one element")));
        }
        let (mut input, mut unit_millis) = (None, None);
        for element in elements(document) {
            match (element.key, element.value()) {
                ("input", value) => input = Some(Expression::parse(value, function.context)?),
                ("unit", RawBsonRef::String(unit)) => {
                    let length = Unit::parse(unit)?.millis();
                    let Some(length) = length else {
                        return Err(Code::location(5490704).error("unit must be 'week' or smaller"));
                    };
                    unit_millis = Some(length);
                }
                ("unit", _) => return Err(failed(format!("{name}'s 'unit' must be a string"))),
                (key, _) => {
                    return Err(failed(format!("{name} got unexpected argument: {key}")));
                }
            }
        }
        match input {
            Some(input) => Ok(Slope { name, input, unit_millis }),
            None => Err(failed(format!("{name} requires an 'input' expression"))),
        }
    }

    /// Where each document is, and its value there; `None` where it has none.
    pub fn points(&self, partition: &Partition<'_>) -> Result<Vec<(f64, Option<f64>)>> {
        let mut points = Vec::new();
        for document in partition.documents {
            let at = partition.sort_value(document);
            let at = match (at.as_ref().map(Value::get), self.unit_millis) {
                (Some(RawBsonRef::DateTime(date)), Some(unit)) => {
                    date.timestamp_millis() as f64 / unit as f64
                }
                (Some(RawBsonRef::DateTime(_)), None) => {
                    return Err(Code::location(5624901).error(format!(
                        "{} where the sortBy is a Date requires a 'unit'",
                        self.name
                    )));
                }
                (_, Some(_)) => {
                    return Err(Code::location(5624900).error(format!(
                        "{} with unit expects the sortBy field to be a Date",
                        self.name
                    )));
                }
                (value, None) => match coerce::number(value) {
                    Some(number) => number.to_f64(),
                    None => {
                        return Err(Code::location(5624902).error(format!(
                            "{} expects the sortBy field to be numeric, but it was {}",
                            self.name,
                            coerce::type_name(value)
                        )));
                    }
                },
            };
            let value = self.input.evaluate_owned(document)?;
            let value = value.as_ref().map(RawBson::as_raw_bson_ref);
            points.push((at, coerce::number(value).map(Number::to_f64)));
        }
        Ok(points)
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}

impl Function for Derivative {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let points = self.slope.points(partition)?;
        let ranges = self.bounds.ranges(partition)?;
        let values = ranges.into_iter().map(|range| match &points[range] {
            [(from, Some(first)), .., (to, Some(last))] if from != to => {
                Some(RawBson::Double((last - first) / (to - from)))
            }
            _ => Some(RawBson::Null),
        });
        Ok(values.collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.needs(needs);
    }
}
