//! `$covariancePop` and `$covarianceSamp`: the covariance of pairs of numbers.

use super::arithmetic::{multiply, subtract};
use super::{Bounds, Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::accumulators::summation::Summation;
use crate::aggregate::expressions::Expression;
use bson::RawBson;
use error::Result;
use value::Number;
use value::element::array_elements;

#[derive(Debug)]
struct Covariance {
    /// Gives an array of two numbers; what gives something else does not count.
    pair: Expression,
    sample: bool,
    bounds: Bounds,
}

/// A mean under way.
#[derive(Debug, Default)]
struct Mean {
    sum: Summation,
    count: i64,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    Ok(Box::new(Covariance {
        pair: Expression::parse(function.operand, function.context)?,
        sample: function.name == "$covarianceSamp",
        bounds: Bounds::parse(function)?,
    }))
}

fn pair(value: Option<RawBson>) -> Option<(Number, Number)> {
    let Some(RawBson::Array(array)) = value else { return None };
    let mut elements = array_elements(&array).map(|element| Number::from_value(element.value()));
    match (elements.next(), elements.next(), elements.next()) {
        (Some(Some(x)), Some(Some(y)), None) => Some((x, y)),
        _ => None,
    }
}

impl Mean {
    fn add(&mut self, number: Number) {
        self.sum.add(number);
        self.count += 1;
    }

    fn value(&self) -> Option<Number> {
        let sum = Number::from_value(self.sum.total().as_raw_bson_ref())?;
        (self.count > 0).then(|| sum.divide(Number::Int64(self.count)))
    }
}

impl Covariance {
    fn over(&self, window: &[Option<(Number, Number)>]) -> RawBson {
        let (mut x_mean, mut y_mean) = (Mean::default(), Mean::default());
        let mut products = Summation::default();
        for (x, y) in window.iter().flatten() {
            if !x.is_finite() || !y.is_finite() {
                products.add(not_finite(*x, *y));
                continue;
            }
            let from_x = x_mean.value().map(|mean| subtract(*x, mean));
            x_mean.add(*x);
            y_mean.add(*y);
            let from_y = y_mean.value().map(|mean| subtract(*y, mean));
            if let (Some(from_x), Some(from_y)) = (from_x, from_y) {
                products.add(multiply(from_x, from_y));
            }
        }
        let count = x_mean.count;
        if count == 1 && !self.sample {
            return RawBson::Double(0.0);
        }
        let divisor = if self.sample { count - 1 } else { count };
        match Number::from_value(products.total().as_raw_bson_ref()) {
            Some(sum) if divisor > 0 => sum.divide(Number::Double(divisor as f64)).to_value(),
            _ => RawBson::Null,
        }
    }
}

/// What a pair with an infinity or NaN in it adds.
fn not_finite(x: Number, y: Number) -> Number {
    let positive = |number: Number| number.is_infinite() && !number.is_negative();
    let negative = |number: Number| number.is_infinite() && number.is_negative();
    let any = |of: &dyn Fn(Number) -> bool| of(x) || of(y);
    let value = if any(&Number::is_nan) || (any(&positive) && any(&negative)) {
        f64::NAN
    } else if any(&positive) {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    };
    match x.is_decimal() || y.is_decimal() {
        true => Number::Decimal(Number::Double(value).to_decimal()),
        false => Number::Double(value),
    }
}

impl Function for Covariance {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let pairs = partition
            .documents
            .iter()
            .map(|document| Ok(pair(self.pair.evaluate_owned(document)?)))
            .collect::<Result<Vec<_>>>()?;
        let ranges = self.bounds.ranges(partition)?;
        Ok(ranges.into_iter().map(|range| Some(self.over(&pairs[range]))).collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.pair.needs(needs);
    }
}
