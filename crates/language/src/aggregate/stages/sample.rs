//! `$sample`: random documents, each at most once.

use super::sorter::Sorter;
use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use bson::RawBsonRef;
use error::{Code, Result};
use rand::Rng;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::elements;

/// Of the keys that chance gives: more than enough to tell documents apart.
const KEY_BYTES: usize = 12;

#[derive(Debug)]
struct Sample {
    size: u64,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(
            Code::location(28745).error("the $sample stage specification must be an object")
        );
    };
    let mut size = None;
    for element in elements(spec) {
        if element.key != "size" {
            return Err(Code::location(28748)
                .error(format!("unrecognized option to $sample: {}", element.key)));
        }
        let Some(number) = coerce::number(Some(element.value())) else {
            return Err(Code::location(28746).error("size argument to $sample must be a number"));
        };
        let number = number.to_i64_saturated();
        match u64::try_from(number) {
            Ok(number) if number > 0 => size = Some(number),
            _ => {
                return Err(Code::location(28747)
                    .error("size argument to $sample must be a positive integer"));
            }
        }
    }
    match size {
        Some(size) => one(Sample { size }),
        None => Err(Code::location(28749).error("$sample stage must specify a size")),
    }
}

impl Sample {
    /// Sorts by chance, and keeps the first.
    fn choose(&self, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let mut random = rand::rng();
        let sorter = Sorter::new("$sample", STAGE_MEMORY_BYTES_MAX, foreign.clone());
        let mut sorter = sorter.limited(usize::try_from(self.size).ok());
        for document in input {
            let key: [u8; KEY_BYTES] = random.random();
            sorter.push(key.to_vec(), document?)?;
        }
        Ok(Box::new(sorter.finish()?.map(|item| Ok(item?.document))))
    }
}

impl Stage for Sample {
    fn name(&self) -> &'static str {
        "$sample"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        self.choose(input, foreign)
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
