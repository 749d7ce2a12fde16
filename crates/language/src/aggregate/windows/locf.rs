//! `$locf`: nulls filled with the value before.

use super::{Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::RawBson;
use error::Result;

#[derive(Debug)]
struct Locf(Expression);

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    function.no_window()?;
    Ok(Box::new(Locf(Expression::parse(function.operand, function.context)?)))
}

impl Function for Locf {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut last = RawBson::Null;
        let mut values = Vec::with_capacity(partition.documents.len());
        for document in partition.documents {
            let value = self.0.evaluate_owned(document)?;
            if let Some(value) = value
                && !coerce::is_nullish(Some(value.as_raw_bson_ref()))
            {
                last = value;
            }
            values.push(Some(last.clone()));
        }
        Ok(values)
    }

    fn needs(&self, needs: &mut Needs) {
        self.0.needs(needs);
    }
}
