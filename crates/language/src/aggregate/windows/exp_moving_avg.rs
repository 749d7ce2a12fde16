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
    alpha: Decimal128,
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
            Some(n) if n > 0 => {
                let mut context = Context::<Decimal128>::default();
                let n = coerce::to_decimal(Number::Int64(n));
                let above = context.add(n, Decimal128::from(1));
                context.div(Decimal128::from(2), above)
            }
            Some(n) => return Err(failed(format!("'N' must be greater than zero. Got {n}"))),
            None => return Err(failed("'N' field must be an integer")),
        },
        (None, Some(alpha)) => match Number::from_value(alpha.value()).map(coerce::to_decimal) {
            Some(alpha) if alpha > Decimal128::from(0) && alpha < Decimal128::from(1) => alpha,
            Some(_) => return Err(failed("'alpha' must be between 0 and 1 (exclusive)")),
            None => return Err(failed("'alpha' must be a number")),
        },
        _ => return Err(failed(shape)),
    };
    let input = Expression::parse(input.value(), function.context)?;
    Ok(Box::new(ExpMovingAvg { input, alpha }))
}

impl ExpMovingAvg {
    /// The next average. It is kept as a decimal whatever the numbers are.
    fn next(&self, before: Option<Decimal128>, value: Number) -> Decimal128 {
        let value = coerce::to_decimal(value);
        let Some(before) = before else { return value };
        let mut context = Context::<Decimal128>::default();
        let rest = context.sub(Decimal128::from(1), self.alpha);
        let (new, old) = (context.mul(value, self.alpha), context.mul(before, rest));
        context.add(new, old)
    }
}

impl Function for ExpMovingAvg {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut average = None;
        let mut exact = false;
        let mut values = Vec::with_capacity(partition.documents.len());
        for document in partition.documents {
            let value = self.input.evaluate_owned(document)?;
            if let Some(number) = coerce::number(value.as_ref().map(RawBson::as_raw_bson_ref)) {
                exact |= number.is_decimal();
                average = Some(self.next(average, number));
            }
            values.push(Some(match average {
                None => RawBson::Null,
                Some(average) if exact => decimal::value(average),
                Some(average) => RawBson::Double(decimal::to_f64(average)),
            }));
        }
        Ok(values)
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}
