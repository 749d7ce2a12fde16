//! `$locf`: nulls filled with the value before.

use super::{Function, Run, Specification};
use crate::Needs;
use crate::aggregate::accumulators::size_of_value;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::sync::Arc;

#[derive(Debug)]
struct Locf(Expression);

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    function.no_window()?;
    Ok(Arc::new(Locf(Expression::parse(function.operand, function.context)?)))
}

impl Function for Locf {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Carried { function: self, last: RawBson::Null }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.0.needs(needs);
    }
}

struct Carried {
    function: Arc<Locf>,
    last: RawBson,
}

impl Run for Carried {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let value = self.function.0.evaluate_owned(document)?;
        if let Some(value) = value
            && !coerce::is_nullish(Some(value.as_raw_bson_ref()))
        {
            self.last = value;
        }
        Ok(())
    }

    fn advance(&mut self, _: bool) -> Result<bool> {
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.last.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        size_of_value(self.last.as_raw_bson_ref())
    }
}
