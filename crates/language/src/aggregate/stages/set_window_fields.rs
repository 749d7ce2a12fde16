//! `$setWindowFields`: computes over windows of documents, partition by
//! partition.
//!
//! It is parsed into up to four stages: the partition's value goes into a field
//! of its own if it is computed, the documents are sorted by it and by `sortBy`
//! (which may spill), and then they go by: of a partition is in memory what the functions
//! must see ahead.

mod run;
mod source;
mod tape;
#[cfg(test)]
mod tests;

use super::options::Options;
use super::{Documents, Foreign, Sort, Specification, Stage, add_fields};
use crate::aggregate::expressions::{Expression, FieldPath, Node, coerce};
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use crate::aggregate::windows::{self, Function};
use crate::sort::Pattern;
use crate::{Context, Needs, interrupt};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use run::Run;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;
use value::element::elements;
use value::key::{Direction, Key};
use value::path::Apart;

/// Where a computed partition is kept for a while.
const PARTITION_FIELD: &str = "__internal_setWindowFields_partition_key";

#[derive(Debug)]
struct SetWindowFields {
    partition: Option<FieldPath>,
    sort: Option<Pattern>,
    outputs: Vec<(Path, Arc<dyn Function>)>,
    /// The places of the outputs that are fields of the document itself.
    fields: FxHashMap<Box<str>, usize>,
    context: Context,
    /// What the documents ahead and the functions may take.
    memory_bytes_max: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::FailedToParse.error(format!(
            "the $setWindowFields stage specification must be an object, found {}",
            coerce::type_name(Some(stage.value))
        )));
    };
    let (mut partition, mut sort, mut output) = (None, None, None);
    let options = Options::new(stage.name, spec);
    options.each(|option| {
        match option.key {
            "partitionBy" => partition = Some(option.value()),
            "sortBy" => sort = options.object(option)?,
            "output" => output = options.object(option)?,
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    let output = output.ok_or_else(|| options.missing("output"))?;
    let sort = sort.map(Pattern::parse).transpose()?;
    let outputs = outputs(output, sort.as_ref(), stage.context)?;
    stages(partition, sort, outputs, stage.context)
}

fn outputs(
    output: &RawDocument,
    sort: Option<&Pattern>,
    context: &Context,
) -> Result<Vec<(Path, Arc<dyn Function>)>> {
    let paths = elements(output).map(|element| Ok(FieldPath::parse(element.key)?.path().clone()));
    let paths: Vec<Path> = paths.collect::<Result<_>>()?;
    let mut apart = Apart::default();
    let mut functions = Vec::with_capacity(paths.len());
    for (path, element) in paths.iter().zip(elements(output)) {
        interrupt::check()?;
        if !apart.add(path) {
            return Err(Code::location(6307900)
                .error("$setWindowFields 'output' specification contains two conflicting paths"));
        }
        functions.push(windows::parse(element.value(), sort, context)?);
    }
    Ok(paths.into_iter().zip(functions).collect())
}

fn stages(
    partition: Option<RawBsonRef<'_>>,
    sort: Option<Pattern>,
    outputs: Vec<(Path, Arc<dyn Function>)>,
    context: &Context,
) -> Result<Vec<Box<dyn Stage>>> {
    let mut stages: Vec<Box<dyn Stage>> = Vec::new();
    let partition = partition.map(|value| Expression::parse(value, context)).transpose()?;
    let mut field = None;
    if let Some(expression) = partition {
        match (&expression.node, expression.constant()) {
            (_, Some(Some(RawBsonRef::Array(_)))) => return Err(array_partition()),
            (_, Some(_)) => {}
            (Node::Field(path), None) => field = Some(path.clone()),
            _ => {
                let path = FieldPath::parse(PARTITION_FIELD)?;
                stages.push(Box::new(add_fields::set(path.path(), expression)));
                field = Some(path);
            }
        }
    }
    let computed = !stages.is_empty();
    let mut fields = Vec::new();
    if let Some(path) = &field {
        fields.push((path.path().clone(), Direction::Ascending));
    }
    for (path, direction) in sort.iter().flat_map(|sort| sort.fields()) {
        if field.as_ref().is_none_or(|field| field.path() != path) {
            fields.push((path.clone(), *direction));
        }
    }
    if !fields.is_empty() {
        let pattern = Pattern::from_fields(fields);
        stages.push(Box::new(Sort::new(pattern, context.collator.clone())));
    }
    let places = outputs.iter().enumerate().filter(|(_, (path, _))| path.len() == 1);
    stages.push(Box::new(SetWindowFields {
        partition: field,
        sort,
        fields: places.map(|(at, (path, _))| (path.as_str().into(), at)).collect(),
        outputs,
        context: context.clone(),
        memory_bytes_max: STAGE_MEMORY_BYTES_MAX,
    }));
    if computed {
        stages.push(super::unset::one_field(&Path::new(PARTITION_FIELD))?);
    }
    Ok(stages)
}

fn array_partition() -> error::Error {
    Code::TypeMismatch
        .error("An expression used to partition cannot evaluate to value of type array")
}

impl SetWindowFields {
    /// The bytes that tell partitions apart.
    fn key(&self, document: &RawDocumentBuf) -> Result<Vec<u8>> {
        let Some(path) = &self.partition else { return Ok(Vec::new()) };
        let value = path.resolve(document);
        let value = value.as_ref().map_or(RawBsonRef::Null, value::Value::get);
        if matches!(value, RawBsonRef::Array(_)) {
            return Err(array_partition());
        }
        let mut key = Key::default();
        key.push(value, Direction::Ascending, self.context.collator.as_deref());
        Ok(key.bytes)
    }
}

impl Stage for SetWindowFields {
    fn name(&self) -> &'static str {
        "$setWindowFields"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(Run::new(self, input, foreign.clone())))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        if let Some(path) = &self.partition {
            needs.add(path.path());
        }
        if let Some(sort) = &self.sort {
            sort.needs(needs);
        }
        self.outputs.iter().for_each(|(_, function)| function.needs(needs));
        ControlFlow::Continue(())
    }
}
