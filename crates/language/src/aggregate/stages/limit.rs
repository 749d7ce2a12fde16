//! `$limit`: at most so many documents.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::describe;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub u64);

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let count = coerce::integral64(Some(stage.value)).and_then(|count| u64::try_from(count).ok());
    let Some(count) = count else {
        return Err(Code::location(5107201).error(format!(
            "invalid argument to $limit stage: Expected a non-negative 64-bit integer in: $limit: {}",
            describe::value(stage.value)
        )));
    };
    if count == 0 {
        return Err(Code::location(15958).error("the limit must be positive"));
    }
    one(Limit(count))
}

impl Stage for Limit {
    fn name(&self) -> &'static str {
        "$limit"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(input.take(usize::try_from(self.0).unwrap_or(usize::MAX))))
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
