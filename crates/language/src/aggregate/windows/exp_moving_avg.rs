//! `$expMovingAvg`: the exponential moving average.

use super::{Function, Run, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce, decimal};
use bson::{RawBson, RawBsonRef, RawDocument};
use dec::{Context, Decimal128};
use error::Result;
use std::sync::Arc;
use value::element::{elements, get};
use value::{Number, Value};

#[derive(Debug)]
struct ExpMovingAvg {
    input: Expression,
    /// The weight of the newest value.
    alpha: Decimal128,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
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
    Ok(Arc::new(ExpMovingAvg { input, alpha }))
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
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Average { function: self, average: None, exact: false, value: RawBson::Null }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}

struct Average {
    function: Arc<ExpMovingAvg>,
    average: Option<Decimal128>,
    /// Whether a decimal was among the numbers.
    exact: bool,
    value: RawBson,
}

impl Run for Average {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let value = self.function.input.evaluate(document)?;
        if let Some(number) = coerce::number(value.as_ref().map(Value::get)) {
            self.exact |= number.is_decimal();
            let average = self.function.next(self.average, number);
            self.average = Some(average);
            self.value = match self.exact {
                true => decimal::value(average),
                false => RawBson::Double(decimal::to_f64(average)),
            };
        }
        Ok(())
    }

    fn advance(&mut self, _: bool) -> Result<bool> {
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }
}
