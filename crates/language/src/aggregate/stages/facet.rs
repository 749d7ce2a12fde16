//! `$facet`: several pipelines over the same documents, each into an array.

use super::{Documents, Foreign, Specification, Stage, held, one};
use crate::aggregate::expressions::{coerce, field_path};
use crate::aggregate::limits::{JOINED_BYTES_MAX, STAGE_MEMORY_BYTES_MAX};
use crate::aggregate::{Pipeline, Place, Spill};
use crate::metadata::{self, Asked};
use crate::{Needs, describe, interrupt};
use bson::{RawBsonRef, RawDocumentBuf};
use budget::Kind;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{Element, array_elements, elements};
use value::{ArrayWriter, DocumentWriter};

#[derive(Debug)]
struct Facet {
    facets: Vec<(Box<str>, Pipeline)>,
    /// The metadata that documents carry, which does not go into the arrays.
    asked: Arc<Asked>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let spec = match stage.value {
        RawBsonRef::Document(spec) if !spec.is_empty() => spec,
        _ => {
            return Err(Code::location(40169).error(format!(
                "the $facet specification must be a non-empty object, but found: {}",
                describe::value(stage.value)
            )));
        }
    };
    let mut facets = Vec::new();
    for element in elements(spec) {
        field_path::check_name(element.key)?;
        let RawBsonRef::Array(stages) = element.value() else {
            return Err(Code::location(40170).error(format!(
                "arguments to $facet must be arrays, {} is type {}",
                element.key,
                coerce::type_name(Some(element.value()))
            )));
        };
        let no_stage = |stage: &Element<'_>| stage.value().as_document().is_none();
        if let Some(stage) = array_elements(stages).find(no_stage) {
            return Err(Code::location(40171).error(format!(
                "elements of arrays in $facet spec must be non-empty objects, {} argument contained an element of type {}",
                element.key,
                coerce::type_name(Some(stage.value()))
            )));
        }
        let pipeline =
            Pipeline::parse_nested(stages, stage.context, Place::Facet, stage.depth + 1)?;
        facets.push((element.key.into(), pipeline));
    }
    one(Facet { facets, asked: stage.context.asked.clone() })
}

impl Facet {
    /// The document, and what it takes of the budget.
    fn output(
        &self,
        input: Documents,
        foreign: &Arc<dyn Foreign>,
    ) -> Result<(RawDocumentBuf, budget::Held)> {
        let inputs = copies(input, self.facets.len(), &**foreign)?;
        let mut memory = budget::Held::new(Kind::Work);
        let mut out = DocumentWriter::new();
        for ((name, pipeline), input) in self.facets.iter().zip(inputs) {
            let mut array = ArrayWriter::new();
            let documents = pipeline.clone().run(input, foreign.clone())?;
            for document in metadata::detach_all(documents, self.asked.wanted()) {
                array.push(RawBsonRef::Document(&document?));
                if out.len() + array.bytes() > JOINED_BYTES_MAX {
                    return Err(Code::location(4031700).error(format!(
                        "document constructed by $facet is more than {JOINED_BYTES_MAX} bytes"
                    )));
                }
                // While it grows there may be a copy of it.
                memory.resize(out.len() + 2 * array.bytes())?;
            }
            array.finish_into(&mut out, name);
        }
        Ok((out.finish(), memory))
    }
}

/// The documents once for each pipeline: in memory, or in a file where they are
/// too many.
fn copies(input: Documents, count: usize, foreign: &dyn Foreign) -> Result<Vec<Documents>> {
    let mut held: Vec<RawDocumentBuf> = Vec::new();
    let mut bytes = 0;
    let mut memory = budget::Held::new(Kind::Work);
    let mut file: Option<Box<dyn Spill>> = None;
    for document in input {
        let document = document?;
        if let Some(file) = &mut file {
            file.push(&document)?;
            continue;
        }
        bytes += document.as_bytes().len();
        held.push(document);
        let refusal = match bytes > STAGE_MEMORY_BYTES_MAX {
            true => Some(held::exceeded("$facet")),
            false => memory.resize_or_spill(bytes)?,
        };
        if let Some(refusal) = refusal {
            let mut new = foreign.spill()?.ok_or(refusal)?;
            for document in std::mem::take(&mut held) {
                new.push(&document)?;
            }
            file = Some(new);
            memory.clear();
        }
    }
    if let Some(file) = file {
        let file = file.finish()?;
        return Ok((0..count).map(|_| file.read()).collect());
    }
    let held = Arc::new((held, memory));
    let copy = || -> Documents {
        let held = held.clone();
        Box::new((0..held.0.len()).map(move |at| {
            interrupt::check_sized(held.0[at].as_bytes().len())?;
            Ok(held.0[at].clone())
        }))
    };
    Ok((0..count).map(|_| copy()).collect())
}

impl Stage for Facet {
    fn name(&self) -> &'static str {
        "$facet"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let (output, memory) = self.output(input, foreign)?;
        // The room is given back with the iterator: what comes next holds the document meanwhile.
        Ok(Box::new(std::iter::once(Ok(output)).inspect(move |_| {
            let _ = &memory;
        })))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.facets.iter().for_each(|(_, pipeline)| needs.merge(&pipeline.needs()));
        ControlFlow::Break(())
    }

    fn foreign_collections(&self) -> Vec<&str> {
        self.facets.iter().flat_map(|(_, pipeline)| pipeline.foreign_collections()).collect()
    }
}
