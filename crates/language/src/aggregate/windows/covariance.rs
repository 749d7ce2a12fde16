//! `$covariancePop` and `$covarianceSamp`: the covariance of two expressions.

use super::{Bounds, Function, Partition, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef};
use error::Result;
use value::Number;
use value::element::array_elements;

#[derive(Debug)]
struct Covariance {
    x: Expression,
    y: Expression,
    sample: bool,
    bounds: Bounds,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    let operands: Vec<_> = match function.operand {
        RawBsonRef::Array(array) => array_elements(array).map(|e| e.value()).collect(),
        _ => Vec::new(),
    };
    let [x, y] = operands.as_slice() else {
        return Err(failed(format!("{} expects an array of 2 expressions", function.name)));
    };
    Ok(Box::new(Covariance {
        x: Expression::parse(*x, function.context)?,
        y: Expression::parse(*y, function.context)?,
        sample: function.name == "$covarianceSamp",
        bounds: Bounds::parse(function)?,
    }))
}

impl Function for Covariance {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut pairs = Vec::new();
        for document in partition.documents {
            let number = |expression: &Expression| -> Result<Option<f64>> {
                let value = expression.evaluate_owned(document)?;
                let value = value.as_ref().map(RawBson::as_raw_bson_ref);
                Ok(coerce::number(value).map(Number::to_f64))
            };
            pairs.push(number(&self.x)?.zip(number(&self.y)?));
        }
        let ranges = self.bounds.ranges(partition)?;
        Ok(ranges
            .into_iter()
            .map(|range| {
                let window: Vec<(f64, f64)> = pairs[range].iter().flatten().copied().collect();
                let count = window.len() as f64;
                let divisor = if self.sample { count - 1.0 } else { count };
                if divisor <= 0.0 {
                    return Some(RawBson::Null);
                }
                let mean_x = window.iter().map(|(x, _)| x).sum::<f64>() / count;
                let mean_y = window.iter().map(|(_, y)| y).sum::<f64>() / count;
                let sum: f64 = window.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
                Some(RawBson::Double(sum / divisor))
            })
            .collect())
    }

    fn needs(&self, needs: &mut Needs) {
        self.x.needs(needs);
        self.y.needs(needs);
    }
}
