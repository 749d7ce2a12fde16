//! `$skip`: leaves out the first documents.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::describe;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip(pub u64);

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let count = coerce::integral64(Some(stage.value)).and_then(|count| u64::try_from(count).ok());
    let Some(count) = count else {
        return Err(Code::location(5107200).error(format!(
            "invalid argument to $skip stage: Expected a non-negative 64-bit integer in: $skip: {}",
            describe::value(stage.value)
        )));
    };
    one(Skip(count))
}

impl Stage for Skip {
    fn name(&self) -> &'static str {
        "$skip"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(input.skip(usize::try_from(self.0).unwrap_or(usize::MAX))))
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
