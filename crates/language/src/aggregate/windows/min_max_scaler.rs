//! `$minMaxScaler`: where a value stands between the least and the greatest of
//! its window, scaled to a range.

use super::arithmetic::{add, multiply, subtract};
use super::bounds::Bound;
use super::{Bounds, Function, Partition, Specification, failed};
use crate::aggregate::expressions::{Expression, coerce};
use crate::{Context, Needs};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::Number;
use value::element::elements;

#[derive(Debug)]
struct MinMaxScaler {
    input: Expression,
    min: Number,
    max: Number,
    bounds: Bounds,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    let bounds = Bounds::parse(function)?;
    let RawBsonRef::Document(document) = function.operand else {
        return Err(failed("$minMaxScaler expects an object"));
    };
    check_current(&bounds)?;
    let (mut input, mut min, mut max) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "input" => input = Some(Expression::parse(element.value(), function.context)?),
            "min" => min = Some(constant("min", element.value(), function.context)?),
            "max" => max = Some(constant("max", element.value(), function.context)?),
            key => {
                return Err(failed(format!(
                    "$minMaxScaler got unexpected internal argument: '{key}'"
                )));
            }
        }
    }
    let Some(input) = input else {
        return Err(failed("$minMaxScaler requires an 'input' expression"));
    };
    if min.is_some() != max.is_some() {
        return Err(failed(
            "Only one of 'min' and 'max' were specified as an argument to $minMaxScaler. Neither or both must be specified",
        ));
    }
    let (min, max) = (min.unwrap_or(Number::Int32(0)), max.unwrap_or(Number::Int32(1)));
    if !min.compare(max).is_lt() {
        return Err(failed(
            "the 'max' must be strictly greater than 'min', as arguments to $minMaxScaler",
        ));
    }
    Ok(Box::new(MinMaxScaler { input, min, max, bounds }))
}

fn constant(name: &str, value: RawBsonRef<'_>, context: &Context) -> Result<Number> {
    let expression = Expression::parse(value, context)?;
    let Some(value) = expression.constant() else {
        return Err(failed(format!("'{name}' argument to $minMaxScaler must be a constant")));
    };
    coerce::number(value)
        .ok_or_else(|| failed(format!("'{name}' argument to $minMaxScaler must be a numeric type")))
}

/// The window must hold the document that it is around.
fn check_current(bounds: &Bounds) -> Result<()> {
    let (Bounds::Documents(lower, upper) | Bounds::Range(lower, upper, _)) = bounds;
    let zero = Number::Int32(0);
    if matches!(lower, Bound::Offset(by) if by.compare(zero).is_gt()) {
        return Err(failed(
            "Lower specified bound cannot be greater than 0 (the current doc), as $minMaxScaler must ensure that the current document being processed is always within the configured window",
        ));
    }
    if matches!(upper, Bound::Offset(by) if by.compare(zero).is_lt()) {
        return Err(failed(
            "Upper specified bound cannot be less than 0 (the current doc), as $minMaxScaler must ensure that the current document being processed is always within the configured window",
        ));
    }
    Ok(())
}

impl MinMaxScaler {
    fn scaled(&self, current: Number, window: &[Number]) -> Number {
        let least = window.iter().copied().min_by(|a, b| a.compare(*b)).unwrap_or(current);
        let most = window.iter().copied().max_by(|a, b| a.compare(*b)).unwrap_or(current);
        if least.compare(most).is_eq() {
            return self.min;
        }
        let share = subtract(current, least).divide(subtract(most, least));
        add(multiply(share, subtract(self.max, self.min)), self.min)
    }
}

impl Function for MinMaxScaler {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut numbers = Vec::with_capacity(partition.documents.len());
        for document in partition.documents {
            let value = self.input.evaluate_owned(document)?;
            let value = value.as_ref().map(RawBson::as_raw_bson_ref);
            let Some(number) = coerce::number(value) else {
                return Err(Code::location(10487000).error(format!(
                    "'input' argument to $minMaxScaler must evaluate to a numeric type, got: {}",
                    coerce::type_name(value)
                )));
            };
            numbers.push(number);
        }
        let ranges = self.bounds.ranges(partition)?;
        let values = ranges
            .into_iter()
            .zip(&numbers)
            .map(|(range, current)| Some(self.scaled(*current, &numbers[range]).to_value()));
        Ok(values.collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}
