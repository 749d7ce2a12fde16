//! `$sample`: random documents, each at most once.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use rand::Rng;
use rand::seq::SliceRandom;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::elements;

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
    /// Keeps a fair choice of what it has seen.
    fn choose(&self, input: Documents) -> Result<Vec<RawDocumentBuf>> {
        let mut random = rand::rng();
        let mut chosen: Vec<RawDocumentBuf> = Vec::new();
        let mut bytes = 0;
        for (seen, document) in input.enumerate() {
            let document = document?;
            bytes += document.as_bytes().len();
            if (chosen.len() as u64) < self.size {
                chosen.push(document);
            } else {
                let at = random.random_range(0..=seen);
                if let Some(place) = chosen.get_mut(at) {
                    bytes -= place.as_bytes().len();
                    *place = document;
                } else {
                    bytes -= document.as_bytes().len();
                }
            }
            if bytes > STAGE_MEMORY_BYTES_MAX {
                return Err(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
                    "$sample exceeded its memory limit of {STAGE_MEMORY_BYTES_MAX} bytes"
                )));
            }
        }
        chosen.shuffle(&mut random);
        Ok(chosen)
    }
}

impl Stage for Sample {
    fn name(&self) -> &'static str {
        "$sample"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(self.choose(input)?.into_iter().map(Ok)))
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
