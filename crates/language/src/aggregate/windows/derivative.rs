//! `$derivative`: the rate of change over the window.

use super::arithmetic::{Place, difference, multiply, subtract};
use super::{Bounds, Function, Partition, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::Expression;
use crate::aggregate::expressions::date::unit::Unit;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::Number;
use value::element::elements;

#[derive(Debug)]
struct Derivative {
    slope: Slope,
    bounds: Bounds,
}

/// `{input, unit}`, which `$derivative` and `$integral` take.
#[derive(Debug)]
pub struct Slope {
    pub input: Expression,
    /// The length of the unit that the sort's dates are measured in.
    pub unit_millis: Option<i64>,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    check_sort(function)?;
    let bounds = Bounds::parse(function)?;
    let slope = Slope::parse(function)?;
    if function.window.is_none() {
        return Err(failed("$derivative requires explicit window bounds"));
    }
    Ok(Box::new(Derivative { slope, bounds }))
}

pub fn check_sort(function: Specification<'_>) -> Result<()> {
    match function.sort.map(|sort| sort.fields().len()) {
        Some(1) => Ok(()),
        Some(_) => Err(failed(format!("{} requires a non-compound sortBy", function.name))),
        None => Err(failed(format!("{} requires a sortBy", function.name))),
    }
}

impl Slope {
    pub fn parse(function: Specification<'_>) -> Result<Slope> {
        let name = function.name;
        let RawBsonRef::Document(document) = function.operand else {
            return Err(failed(format!("{name} expects an object")));
        };
        let (mut input, mut unit_millis) = (None, None);
        for element in elements(document) {
            match (element.key, element.value()) {
                ("input", value) => input = Some(Expression::parse(value, function.context)?),
                ("unit", RawBsonRef::String(unit)) => {
                    let length = Unit::parse(unit)?.millis();
                    let Some(length) = length else {
                        return Err(Code::location(5490710).error("unit must be 'week' or smaller"));
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
            Some(input) => Ok(Slope { input, unit_millis }),
            None => Err(failed(format!("{name} requires an 'input' expression"))),
        }
    }
}

impl Derivative {
    fn place(&self, partition: &Partition<'_>, document: &RawDocument) -> Result<Number> {
        let place = partition.place(document);
        match (place, self.slope.unit_millis) {
            (Ok(place), Some(_)) if place.is_date() => Ok(place.number()),
            (_, Some(_)) => Err(Code::location(5624900)
                .error("$derivative with 'unit' expects the sortBy field to be a Date")),
            (Ok(Place::Date(_)), None) => Err(Code::location(5624901)
                .error("$derivative where the sortBy is a Date requires a 'unit'")),
            (Ok(place), None) => Ok(place.number()),
            (Err(_), None) => Err(Code::location(5624902)
                .error("$derivative (with no 'unit') expects the sortBy field to be numeric")),
        }
    }

    fn over(&self, partition: &Partition<'_>, window: &[usize; 2]) -> Result<RawBson> {
        let [first, last] = window.map(|at| &partition.documents[at]);
        let run = subtract(self.place(partition, last)?, self.place(partition, first)?);
        let (from, to) =
            (self.slope.input.evaluate_owned(first)?, self.slope.input.evaluate_owned(last)?);
        let Some(rise) = difference(to.as_ref(), from.as_ref())? else {
            return Err(
                Code::location(5624903).error("$derivative input must not be null or missing")
            );
        };
        if run.is_zero() {
            return Ok(RawBson::Null);
        }
        let rate = rise.divide(run);
        Ok(match self.slope.unit_millis {
            Some(unit) => multiply(rate, Number::Int64(unit)).to_value(),
            None => rate.to_value(),
        })
    }
}

impl Function for Derivative {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let ranges = self.bounds.ranges(partition)?;
        ranges
            .into_iter()
            .map(|range| match range.is_empty() {
                true => Ok(Some(RawBson::Null)),
                false => self.over(partition, &[range.start, range.end - 1]).map(Some),
            })
            .collect()
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.input.needs(needs);
    }
}
