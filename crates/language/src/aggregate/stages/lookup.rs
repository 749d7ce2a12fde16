//! `$lookup`: joins documents of another collection, by equality, by a pipeline
//! with variables, or both.
//!
//! A pipeline without variables is parsed once. One with variables is parsed anew
//! for each document, they being constants then: the planner of the other side can
//! use an index for them.

use super::nested::set;
use super::options::{Options, pipeline};
use super::{Documents, Foreign, Match, Specification, Stage, one};
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::aggregate::limits::{JOINED_BYTES_MAX, STAGE_MEMORY_BYTES_MAX};
use crate::aggregate::{Pipeline, Place};
use crate::query::Filter;
use crate::{Context, Needs};
use bson::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{array_elements, elements, get};
use value::{ArrayWriter, DocumentWriter, Path};

#[derive(Debug)]
pub struct Lookup {
    /// `None`: the pipeline begins with `$documents`.
    pub from: Option<Box<str>>,
    pub to: Path,
    /// `localField` and `foreignField`.
    pub fields: Option<(FieldPath, Box<str>)>,
    variables: Vec<(Box<str>, Expression)>,
    pipeline: RawArrayBuf,
    /// The pipeline, where it is the same for every document.
    parsed: Option<Pipeline>,
    context: Context,
    depth: usize,
    foreign_collections: Vec<String>,
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
        variables.push((element.key.into(), expression));
    }
    let mut lookup = Lookup {
        from: parts.from.map(Into::into),
        to: FieldPath::parse(parts.to.unwrap_or_default())?.path().clone(),
        fields,
        variables,
        pipeline: parts.pipeline.map_or_else(RawArrayBuf::new, ToOwned::to_owned),
        context: stage.context.clone(),
        depth: stage.depth,
        parsed: None,
        foreign_collections: Vec::new(),
    };
    lookup.check()?;
    one(lookup)
}

impl Lookup {
    /// Parses the pipeline for its errors; the variables have no value yet.
    fn check(&mut self) -> Result<()> {
        let mut context = self.context.clone();
        let names = self.variables.iter().map(|(name, _)| name.clone());
        context.unbound = context.unbound.iter().cloned().chain(names).collect();
        context.variables = self.without_shadowed();
        let pipeline = self.parse_pipeline(&context)?;
        let documents = pipeline.source().is_some_and(|source| source.name == "$documents");
        if self.from.is_none() && !documents {
            return Err(failed(
                "$lookup stage without explicit collection must have a pipeline with $documents as first stage",
            ));
        }
        self.foreign_collections = self
            .from
            .as_deref()
            .into_iter()
            .chain(pipeline.foreign_collections())
            .map(ToOwned::to_owned)
            .collect();
        self.parsed = self.variables.is_empty().then_some(pipeline);
        Ok(())
    }

    /// The command's variables without those that `let` hides.
    fn without_shadowed(&self) -> RawDocumentBuf {
        let mut out = DocumentWriter::new();
        for element in elements(&self.context.variables) {
            if self.variables.iter().all(|(name, _)| **name != *element.key) {
                out.copy(element);
            }
        }
        out.finish()
    }

    fn parse_pipeline(&self, context: &Context) -> Result<Pipeline> {
        Pipeline::parse_nested(&self.pipeline, context, Place::Lookup, self.depth + 1)
    }

    /// The pipeline for one document.
    fn pipeline_for(&self, document: &RawDocument) -> Result<Pipeline> {
        let mut pipeline = if let Some(parsed) = &self.parsed {
            parsed.clone()
        } else {
            let mut variables = DocumentWriter::resume(self.without_shadowed());
            for (name, expression) in &self.variables {
                // A variable whose value is missing is not null: it is absent.
                if let Some(value) = expression.evaluate(document)? {
                    variables.append(name, value.get());
                }
            }
            let names = self.variables.iter().map(|(name, _)| name.clone());
            let unbound = self.context.unbound.iter().cloned().chain(names).collect();
            let context =
                Context { variables: variables.finish(), unbound, ..self.context.clone() };
            self.parse_pipeline(&context)?
        };
        if let Some((local, foreign)) = &self.fields {
            let filter = equality(local.path(), foreign, document);
            let filter = Filter::parse(&filter, &self.context)?;
            // The join's filter goes before the pipeline, but after `$documents`.
            match pipeline.source().is_some() {
                false => pipeline.push_front(Match::new(filter)),
                true => pipeline.insert_second(Match::new(filter)),
            }
        }
        Ok(pipeline)
    }

    fn join(&self, document: &RawDocument, foreign: &Arc<dyn Foreign>) -> Result<RawArrayBuf> {
        let pipeline = self.pipeline_for(document)?;
        let documents = match &self.from {
            Some(from) => foreign.run(foreign.database(), from, pipeline)?,
            None => pipeline.run(Box::new(std::iter::empty()), foreign.clone())?,
        };
        let mut array = ArrayWriter::new();
        for joined in documents {
            array.push(RawBsonRef::Document(&joined?));
            if array.bytes() > JOINED_BYTES_MAX {
                return Err(Code::location(4568).error(format!(
                    "Total size of documents in {} matching pipeline's $lookup stage exceeds {JOINED_BYTES_MAX} bytes",
                    self.from.as_deref().unwrap_or("$documents")
                )));
            }
        }
        Ok(array.finish())
    }

    fn is_correlated(&self) -> bool {
        self.fields.is_some() || !self.variables.is_empty()
    }
}

/// `{foreign: {$in: [the local values]}}`; of an array each element counts, and
/// a missing value is null.
fn equality(local: &Path, foreign: &str, document: &RawDocument) -> RawDocumentBuf {
    let mut values = Vec::new();
    collect(local, 0, RawBsonRef::Document(document), &mut values);
    if values.is_empty() {
        values.push(RawBsonRef::Null);
    }
    let mut filter = DocumentWriter::new();
    let patterns = values.iter().any(|value| matches!(value, RawBsonRef::RegularExpression(_)));
    if patterns {
        // In `$in` a regular expression is a pattern; here it is a value.
        filter.begin_array("$or");
        for value in values {
            filter.begin_next_document();
            filter.begin_document(foreign);
            filter.append("$eq", value);
            filter.end();
            filter.end();
        }
        filter.end();
    } else {
        filter.begin_document(foreign);
        match values.as_slice() {
            [value] => filter.append("$eq", *value),
            values => {
                filter.begin_array("$in");
                values.iter().for_each(|value| filter.push(*value));
                filter.end();
            }
        }
        filter.end();
    }
    filter.finish()
}

/// Every value at a path, through arrays; an array at its end gives its elements.
pub fn collect<'a>(path: &Path, at: usize, value: RawBsonRef<'a>, out: &mut Vec<RawBsonRef<'a>>) {
    match value {
        RawBsonRef::Array(array) if at == path.len() => {
            out.extend(array_elements(array).map(|element| element.value()));
        }
        value if at == path.len() => out.push(value),
        RawBsonRef::Document(document) => {
            if let Some(element) = value::element::get(document, path.component(at)) {
                collect(path, at + 1, element.value(), out);
            }
        }
        RawBsonRef::Array(array) => {
            if let Some(index) = path.index(at)
                && let Some(element) = array_elements(array).nth_value(index)
            {
                return collect(path, at + 1, element.value(), out);
            }
            for element in array_elements(array) {
                if let RawBsonRef::Document(_) = element.value() {
                    collect(path, at, element.value(), out);
                }
            }
        }
        _ => {}
    }
}

impl Stage for Lookup {
    fn name(&self) -> &'static str {
        "$lookup"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let foreign = foreign.clone();
        // The same documents are joined to every document where nothing of it
        // is used; they are then read once.
        let mut cached: Option<RawArrayBuf> = None;
        Ok(Box::new(input.map(move |document| {
            let document = document?;
            let array = match &cached {
                Some(array) => array.clone(),
                None => {
                    let array = self.join(&document, &foreign)?;
                    if !self.is_correlated() && array.as_bytes().len() <= STAGE_MEMORY_BYTES_MAX {
                        cached = Some(array.clone());
                    }
                    array
                }
            };
            Ok(set(&document, &self.to, 0, Some(RawBsonRef::Array(&array))))
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
        self.foreign_collections.iter().map(String::as_str).collect()
    }
}
