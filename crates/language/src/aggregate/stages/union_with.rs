//! `$unionWith`: adds the documents of another collection.

use super::options::{self, Options};
use super::{Documents, Foreign, Match, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::aggregate::{Pipeline, Place};
use bson::{RawArray, RawArrayBuf, RawBsonRef};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

#[derive(Debug)]
pub struct UnionWith {
    /// `None`: the pipeline begins with `$documents`.
    collection: Option<Box<str>>,
    pipeline: Pipeline,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let empty = RawArrayBuf::new();
    let (collection, stages) = match stage.value {
        RawBsonRef::String(collection) => (Some(collection), &*empty),
        RawBsonRef::Document(spec) => {
            let (mut collection, mut pipeline) = (None, None);
            let options = Options::new(stage.name, spec);
            options.each(|option| {
                match option.key {
                    "coll" => collection = options.string(option)?,
                    "pipeline" => pipeline = Some(options::pipeline(option.value())?),
                    key => return Err(options.unknown(key)),
                }
                Ok(())
            })?;
            let stages: &RawArray = pipeline.unwrap_or(&empty);
            if collection.is_none() && pipeline.is_none() {
                return Err(Code::location(9).error(
                    "$unionWith stage without explicit collection must have a pipeline with $documents as first stage",
                ));
            }
            (collection, stages)
        }
        other => {
            return Err(Code::FailedToParse.error(format!(
                "the $unionWith stage specification must be an object or string, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    if collection.is_some_and(str::is_empty) {
        return Err(Code::InvalidNamespace.error("invalid $unionWith namespace: ''"));
    }
    let pipeline =
        Pipeline::parse_nested(stages, stage.context, Place::UnionWith, stage.depth + 1)?;
    if collection.is_none() && pipeline.source().is_none_or(|source| source.name != "$documents") {
        return Err(Code::FailedToParse.error(
            "$unionWith stage without explicit collection must have a pipeline with $documents as first stage",
        ));
    }
    one(UnionWith { collection: collection.map(Into::into), pipeline })
}

impl UnionWith {
    /// Adds only those that match.
    pub fn filter(&mut self, filter: Match) {
        self.pipeline.push_match(filter);
    }
}

impl Stage for UnionWith {
    fn name(&self) -> &'static str {
        "$unionWith"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let foreign = foreign.clone();
        let open = move || -> Documents {
            let others = match &self.collection {
                Some(name) => foreign.run(foreign.database(), name, self.pipeline.clone()),
                None => self.pipeline.clone().run(Box::new(std::iter::empty()), foreign),
            };
            others.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
        };
        // The other collection is opened only once the input is at its end.
        Ok(Box::new(input.chain(std::iter::once_with(open).flatten())))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.all();
        ControlFlow::Break(())
    }

    fn foreign_collections(&self) -> Vec<&str> {
        self.collection.as_deref().into_iter().chain(self.pipeline.foreign_collections()).collect()
    }
}
