//! Accumulators over windows. A window that only grows at its end is carried on;
//! another is accumulated anew.

use super::{Bounds, Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::accumulators::{Accumulation, Accumulator, Row};
use bson::RawBson;
use error::Result;

#[derive(Debug)]
struct Accumulated {
    accumulation: Accumulation,
    bounds: Bounds,
}

pub fn parse(row: &'static Row, function: Specification<'_>) -> Result<Box<dyn Function>> {
    Ok(Box::new(Accumulated {
        accumulation: (row.parse)(row.name, function.operand, function.context)?,
        bounds: Bounds::parse(function)?,
    }))
}

impl Function for Accumulated {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let arguments = partition
            .documents
            .iter()
            .map(|document| self.accumulation.argument.evaluate_owned(document))
            .collect::<Result<Vec<_>>>()?;
        let mut state: Option<(Box<dyn Accumulator>, usize, usize)> = None;
        let mut values: Vec<Option<RawBson>> = Vec::with_capacity(arguments.len());
        for range in self.bounds.ranges(partition)? {
            let (mut accumulator, start, mut end) = match state.take() {
                Some(state) if state.1 == range.start && state.2 <= range.end => state,
                _ => (self.accumulation.start(None)?, range.start, range.start),
            };
            let unchanged = end == range.end && !values.is_empty() && end > start;
            while end < range.end {
                let argument = arguments[end].as_ref().map(RawBson::as_raw_bson_ref);
                accumulator.add(argument, &partition.documents[end])?;
                end += 1;
            }
            // The same window has the same value.
            let value = match values.last() {
                Some(last) if unchanged => last.clone(),
                _ => accumulator.value()?,
            };
            // Of nothing there is no first and no last.
            let nothing = range.is_empty().then_some(RawBson::Null);
            values.push(value.or(nothing));
            state = Some((accumulator, start, end));
        }
        Ok(values)
    }

    fn needs(&self, needs: &mut Needs) {
        self.accumulation.needs(needs);
    }
}
