//! `$lookup`: joins documents of another collection, by equality, by a pipeline
//! with variables, or both.
//!
//! The pipeline is parsed once; its variables get their values for each document. What
//! is the same for every document, or for those that ask for the same, is read once
//! (`Reuse`).

mod equality;
mod reuse;

pub use equality::collect;

use super::nested::set;
use super::options::{Options, pipeline};
use super::{Documents, Foreign, Match, Specification, Stage, one};
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::aggregate::limits::JOINED_BYTES_MAX;
use crate::aggregate::{Pipeline, Place};
use crate::query::Filter;
use crate::{Binding, Context, Needs, metadata};
use bson::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use budget::{Held, Kind};
use error::{Code, Result};
use reuse::Reuse;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{elements, get};
use value::{ArrayWriter, Path};

#[derive(Debug)]
pub struct Lookup {
    /// `None`: the pipeline begins with `$documents`.
    pub from: Option<Box<str>>,
    pub to: Path,
    /// `localField` and `foreignField`.
    pub fields: Option<(FieldPath, Box<str>)>,
    variables: Vec<(Arc<Binding>, Expression)>,
    pipeline: Pipeline,
    reuse: Reuse,
    /// What the join's filter is parsed with.
    context: Context,
}

/// The parts as they are written.
#[derive(Default)]
struct Parts<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    local: Option<&'a str>,
    foreign: Option<&'a str>,
    pipeline: Option<&'a RawArray>,
    variables: Option<&'a RawDocument>,
}

fn parts<'a>(stage: Specification<'a>) -> Result<Parts<'a>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::FailedToParse.error(format!(
            "the $lookup stage specification must be an object, but found {}",
            coerce::type_name(Some(stage.value))
        )));
    };
    // The collection and the pipeline are looked at before all else.
    let from = get(spec, "from").map(|from| from_name(from.value())).transpose()?;
    let pipeline = get(spec, "pipeline").map(|stages| pipeline(stages.value())).transpose()?;
    if from.is_none() && pipeline.is_none() {
        return Err(failed("must specify 'pipeline' when 'from' is empty"));
    }
    let mut parts = Parts { from, pipeline, ..Parts::default() };
    let options = Options::new(stage.name, spec);
    options.each(|option| {
        match option.key {
            "from" | "pipeline" => {}
            "let" => parts.variables = options.object(option)?,
            "as" => parts.to = options.string(option)?,
            "localField" => parts.local = options.string(option)?.filter(|path| !path.is_empty()),
            "foreignField" => {
                parts.foreign = options.string(option)?.filter(|path| !path.is_empty());
            }
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    match parts.to {
        Some(_) => Ok(parts),
        None => Err(options.missing("as")),
    }
}

fn from_name(value: RawBsonRef<'_>) -> Result<&str> {
    match value {
        RawBsonRef::String("") => {
            Err(Code::InvalidNamespace.error("invalid $lookup namespace: ''"))
        }
        RawBsonRef::String(name) => Ok(name),
        RawBsonRef::Document(_) => Err(failed(
            "$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for this db and coll",
        )),
        other => Err(failed(format!(
            "$lookup 'from' field must be a string, but found {}",
            coerce::type_name(Some(other))
        ))),
    }
}

fn failed(message: impl Into<String>) -> error::Error {
    Code::FailedToParse.error(message)
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let parts = parts(stage)?;
    let fields = match (parts.local, parts.foreign) {
        (Some(local), Some(foreign)) => {
            FieldPath::parse(foreign)?;
            Some((FieldPath::parse(local)?, foreign.into()))
        }
        (None, None) if parts.pipeline.is_some() => None,
        _ => {
            return Err(failed(
                "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
            ));
        }
    };
    if parts.variables.is_some() && parts.pipeline.is_none() {
        return Err(failed("$lookup with a 'let' argument must also specify 'pipeline'"));
    }
    let mut variables = Vec::new();
    for element in parts.variables.into_iter().flat_map(elements) {
        check_write_name(element.key)?;
        let expression = Expression::parse(element.value(), stage.context)?;
        variables.push((Binding::new(element.key), expression));
    }
    let empty = RawArrayBuf::new();
    let stages = parts.pipeline.unwrap_or(&empty);
    let context = stage.context.binding(variables.iter().map(|(binding, _)| binding.clone()));
    let parse = |stages: &RawArray| {
        Pipeline::parse_nested(stages, &context, Place::Lookup, stage.depth + 1)
    };
    let pipeline = parse(stages)?;
    let documents = pipeline.source().is_some_and(|source| source.name == "$documents");
    if parts.from.is_none() && !documents {
        return Err(failed(
            "$lookup stage without explicit collection must have a pipeline with $documents as first stage",
        ));
    }
    let reuse = match &fields {
        Some(_) => reuse::plan_equality(stages, &variables),
        None => reuse::plan(stages, &pipeline, &variables, context.asked.wanted(), parse)?,
    };
    one(Lookup {
        from: parts.from.map(Into::into),
        to: FieldPath::parse(parts.to.unwrap_or_default())?.path().clone(),
        fields,
        variables,
        pipeline,
        reuse,
        context: stage.context.clone(),
    })
}

/// The documents that are joined to another, and what they take of the budget.
struct Joined {
    array: RawArrayBuf,
    _memory: Held,
}

impl Lookup {
    /// Gives the variables the values that they have for a document.
    fn bind(&self, document: &RawDocument) -> Result<()> {
        for (binding, expression) in &self.variables {
            // A variable whose value is missing is not null: it is absent.
            binding.set(expression.evaluate_owned(document)?);
        }
        Ok(())
    }

    /// What `localField` and `foreignField` ask for, for one document.
    fn equality(&self, document: &RawDocument) -> Option<RawDocumentBuf> {
        let (local, foreign) = self.fields.as_ref()?;
        Some(equality::filter(local.path(), foreign, document))
    }

    /// The pipeline for one document, whose variables are bound.
    fn pipeline_for(&self, equality: Option<&RawDocument>) -> Result<Pipeline> {
        let mut pipeline = self.pipeline.clone();
        if let Some(filter) = equality {
            let filter = Filter::parse(filter, &self.context)?;
            // The join's filter goes before the pipeline, but after `$documents`.
            match pipeline.source().is_some() {
                false => pipeline.push_front(Match::new(filter)),
                true => pipeline.insert_second(Match::new(filter)),
            }
        } else if let Some(front) = pipeline.front::<Match>()
            && let Some(implied) = front.filter.implied()
        {
            pipeline.push_front(Match::new(Filter::parse(&implied, &self.context)?));
        }
        Ok(pipeline)
    }

    /// Runs a pipeline over the other collection.
    fn read(&self, pipeline: Pipeline, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        match &self.from {
            Some(from) => foreign.run(foreign.database(), from, pipeline),
            None => pipeline.run(Box::new(std::iter::empty()), foreign.clone()),
        }
    }

    fn array(&self, documents: Documents) -> Result<Joined> {
        let mut array = ArrayWriter::new();
        let mut memory = Held::new(Kind::Work);
        for joined in metadata::detach_all(documents, self.context.asked.wanted()) {
            array.push(RawBsonRef::Document(&joined?));
            self.check_size(array.bytes())?;
            // While it grows there may be a copy of it.
            memory.resize(2 * array.bytes())?;
        }
        let array = array.finish();
        memory.resize(array.as_bytes().len())?;
        Ok(Joined { array, _memory: memory })
    }

    fn check_size(&self, bytes: usize) -> Result<()> {
        if bytes > JOINED_BYTES_MAX {
            return Err(Code::location(4568).error(format!(
                "Total size of documents in {} matching pipeline's $lookup stage exceeds {JOINED_BYTES_MAX} bytes",
                self.from.as_deref().unwrap_or("$documents")
            )));
        }
        Ok(())
    }
}

impl Stage for Lookup {
    fn name(&self) -> &'static str {
        "$lookup"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let mut join = reuse::Join::new(self.clone(), foreign.clone());
        // For the document that was handed on last, which may be far larger than one that is
        // stored.
        let mut memory = Held::new(Kind::Work);
        Ok(Box::new(input.map(move |document| {
            let document = document?;
            let Joined { array, .. } = &*join.array(&document)?;
            memory.resize(document.as_bytes().len() + array.as_bytes().len())?;
            let joined = set(&document, &self.to, 0, Some(RawBsonRef::Array(array)));
            self.check_size(joined.as_bytes().len())?;
            Ok(joined)
        })))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        if let Some((local, _)) = &self.fields {
            needs.add(local.path());
        }
        self.variables.iter().for_each(|(_, expression)| expression.needs(needs));
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(vec![self.to.clone()])
    }

    fn foreign_collections(&self) -> Vec<&str> {
        self.from.as_deref().into_iter().chain(self.pipeline.foreign_collections()).collect()
    }
}
