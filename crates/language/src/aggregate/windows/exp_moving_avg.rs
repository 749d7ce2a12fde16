//! `$expMovingAvg`: the exponential moving average.

use super::{Function, Partition, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce, decimal};
use bson::{RawBson, RawBsonRef};
use dec::{Context, Decimal128};
use error::Result;
use value::Number;
use value::element::{elements, get};

#[derive(Debug)]
struct ExpMovingAvg {
    input: Expression,
    /// The weight of the newest value.
    alpha: Number,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    let shape = "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field";
    let document = match function.operand {
        RawBsonRef::Document(document) if function.window.is_none() => document,
        _ => {
            return Err(failed("$expMovingAvg must have exactly one argument that is an object"));
        }
    };
    let Some(input) = get(document, "input").filter(|_| elements(document).count() == 2) else {
        return Err(failed(shape));
    };
    if function.sort.is_none() {
        return Err(failed("$expMovingAvg requires an explicit 'sortBy'"));
    }
    let alpha = match (get(document, "N"), get(document, "alpha")) {
        (Some(n), _) => match coerce::integral64(Some(n.value())) {
            Some(n) if n > 0 => Number::Double(2.0 / (n as f64 + 1.0)),
            Some(n) => return Err(failed(format!("'N' must be greater than zero. Got {n}"))),
            None => return Err(failed("'N' field must be an integer")),
        },
        (None, Some(alpha)) => match Number::from_value(alpha.value()) {
            Some(alpha) if alpha.to_f64() > 0.0 && alpha.to_f64() < 1.0 => alpha,
            Some(_) => return Err(failed("'alpha' must be between 0 and 1 (exclusive)")),
            None => return Err(failed("'alpha' must be a number")),
        },
        _ => return Err(failed(shape)),
    };
    let input = Expression::parse(input.value(), function.context)?;
    Ok(Box::new(ExpMovingAvg { input, alpha }))
}

impl ExpMovingAvg {
    fn next(&self, before: Option<Number>, value: Number) -> Number {
        let decimal = |number: &Number| matches!(number, Number::Decimal(_));
        if decimal(&value) || before.as_ref().is_some_and(decimal) || decimal(&self.alpha) {
            let Some(before) = before else { return Number::Decimal(value.to_decimal()) };
            let mut context = Context::<Decimal128>::default();
            let alpha = coerce::to_decimal(self.alpha);
            let rest = context.sub(Decimal128::from(1), alpha);
            let new = context.mul(coerce::to_decimal(value), alpha);
            let old = context.mul(coerce::to_decimal(before), rest);
            return Number::Decimal(decimal::encode(context.add(new, old)));
        }
        let Some(before) = before else { return Number::Double(value.to_f64()) };
        let alpha = self.alpha.to_f64();
        Number::Double(value.to_f64() * alpha + before.to_f64() * (1.0 - alpha))
    }
}

impl Function for ExpMovingAvg {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut average = None;
        let mut values = Vec::with_capacity(partition.documents.len());
        for document in partition.documents {
            let value = self.input.evaluate_owned(document)?;
            if let Some(number) = coerce::number(value.as_ref().map(RawBson::as_raw_bson_ref)) {
                average = Some(self.next(average, number));
            }
            values.push(Some(average.map_or(RawBson::Null, Number::to_value)));
        }
        Ok(values)
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}
