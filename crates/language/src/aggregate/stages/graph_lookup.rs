//! `$graphLookup`: follows references between documents, breadth first.

use super::lookup::collect;
use super::nested::set;
use super::{Documents, Foreign, Match, Specification, Stage, one};
use crate::aggregate::Pipeline;
use crate::aggregate::accumulators::size_of_value;
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use crate::describe;
use crate::query::Filter;
use crate::{Context, Needs, interrupt};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use budget::Kind;
use error::{Code, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{array_elements, elements, get};
use value::key::Key;
use value::{ArrayWriter, DocumentWriter, Path, Value};

/// What a run keeps of what it has found, for other documents with the same start.
const KNOWN_BYTES_MAX: usize = STAGE_MEMORY_BYTES_MAX / 2;

#[derive(Debug)]
struct GraphLookup {
    from: Box<str>,
    to: Path,
    start: Expression,
    connect_from: Path,
    connect_to: Box<str>,
    depth_max: Option<u64>,
    depth_field: Option<Path>,
    restrict: Option<RawDocumentBuf>,
    context: Context,
}

#[derive(Default)]
struct Parts<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    start: Option<RawBsonRef<'a>>,
    connect_from: Option<&'a str>,
    connect_to: Option<&'a str>,
    depth_field: Option<&'a str>,
    depth_max: Option<u64>,
    restrict: Option<&'a RawDocument>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let parts = parts(stage.value)?;
    let given = |text: Option<&'_ str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let (Some(from), Some(to), Some(start), Some(connect_from), Some(connect_to)) = (
        given(parts.from),
        given(parts.to),
        parts.start,
        given(parts.connect_from),
        given(parts.connect_to),
    ) else {
        return Err(Code::location(40105).error(
            "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
        ));
    };
    if let Some(restrict) = parts.restrict {
        Filter::parse(restrict, stage.context)?;
    }
    FieldPath::parse(&connect_to)?;
    let depth_field = parts.depth_field.map(FieldPath::parse).transpose()?;
    one(GraphLookup {
        from: from.into(),
        to: FieldPath::parse(&to)?.path().clone(),
        start: Expression::parse(start, stage.context)?,
        connect_from: FieldPath::parse(&connect_from)?.path().clone(),
        connect_to: connect_to.into(),
        depth_max: parts.depth_max,
        depth_field: depth_field.map(|field| field.path().clone()),
        restrict: parts.restrict.map(ToOwned::to_owned),
        context: stage.context.clone(),
    })
}

fn parts<'a>(value: RawBsonRef<'a>) -> Result<Parts<'a>> {
    let RawBsonRef::Document(spec) = value else {
        return Err(Code::FailedToParse.error(format!(
            "the $graphLookup stage specification must be an object, but found {}",
            coerce::type_name(Some(value))
        )));
    };
    let Some(from) = get(spec, "from") else {
        return Err(Code::FailedToParse.error(format!(
            "missing 'from' option to $graphLookup stage specification: {}",
            describe::value(value)
        )));
    };
    let mut parts = Parts { from: Some(from_name(from.value())?), ..Parts::default() };
    for element in elements(spec) {
        let value = element.value();
        match element.key {
            "startWith" => parts.start = Some(value),
            "maxDepth" => parts.depth_max = Some(depth(value)?),
            "restrictSearchWithMatch" => match value {
                RawBsonRef::Document(filter) => parts.restrict = Some(filter),
                other => {
                    return Err(Code::location(40185).error(format!(
                        "restrictSearchWithMatch must be an object, found {}",
                        coerce::type_name(Some(other))
                    )));
                }
            },
            "from" => {}
            key @ ("as" | "connectFromField" | "connectToField" | "depthField") => {
                let RawBsonRef::String(text) = value else {
                    return Err(Code::location(40103).error(format!(
                        "expected string as argument for {key}, found: {}",
                        describe::value(value)
                    )));
                };
                match key {
                    "as" => parts.to = Some(text),
                    "connectFromField" => parts.connect_from = Some(text),
                    "connectToField" => parts.connect_to = Some(text),
                    _ => parts.depth_field = Some(text),
                }
            }
            key => {
                return Err(
                    Code::location(40104).error(format!("Unknown argument to $graphLookup: {key}"))
                );
            }
        }
    }
    Ok(parts)
}

fn from_name(value: RawBsonRef<'_>) -> Result<&str> {
    match value {
        RawBsonRef::String("") => {
            Err(Code::InvalidNamespace.error("invalid $graphLookup namespace: ''"))
        }
        RawBsonRef::String(name) => Ok(name),
        other => Err(Code::FailedToParse.error(format!(
            "$graphLookup 'from' field must be a string, but found {}",
            coerce::type_name(Some(other))
        ))),
    }
}

fn depth(value: RawBsonRef<'_>) -> Result<u64> {
    let Some(number) = coerce::number(Some(value)) else {
        return Err(Code::location(40100).error(format!(
            "maxDepth requires numeric argument, found {}",
            coerce::type_name(Some(value))
        )));
    };
    let whole = number.to_i64_saturated();
    let Ok(depth) = u64::try_from(whole) else {
        return Err(Code::location(40101)
            .error(format!("maxDepth requires a nonnegative argument, found: {whole}")));
    };
    if number.to_i64_exact().is_none() {
        return Err(Code::location(40102)
            .error(format!("maxDepth could not be represented as a long long: {whole}")));
    }
    Ok(depth)
}

/// A search under way.
struct Search {
    /// Ids of the documents found.
    found: FxHashSet<Vec<u8>>,
    /// Values that have been looked for.
    asked: FxHashSet<Vec<u8>>,
    /// Values to look for next.
    frontier: Vec<RawBson>,
    out: ArrayWriter,
    bytes: usize,
    memory: budget::Held,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            found: FxHashSet::default(),
            asked: FxHashSet::default(),
            frontier: Vec::new(),
            out: ArrayWriter::new(),
            bytes: 0,
            memory: budget::Held::new(Kind::Work),
        }
    }
}

impl Search {
    fn ask(&mut self, value: RawBsonRef<'_>) {
        let key = Key::of(value).bytes;
        let bytes = key.len() + size_of_value(value);
        if self.asked.insert(key) {
            self.bytes += bytes;
            self.frontier.push(value::value::to_owned(value));
        }
    }

    fn check(&mut self) -> Result<()> {
        let bytes = self.bytes + self.out.bytes();
        if bytes > STAGE_MEMORY_BYTES_MAX {
            return Err(
                Code::location(40099).error("$graphLookup reached maximum memory consumption")
            );
        }
        self.memory.resize(bytes)
    }
}

/// One run of the stage. What was found from the same start is not searched again.
struct Run {
    stage: Arc<GraphLookup>,
    foreign: Arc<dyn Foreign>,
    /// By the start's key.
    known: FxHashMap<Vec<u8>, RawArrayBuf>,
    known_bytes: usize,
    memory: budget::Held,
}

impl Run {
    fn document(&mut self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let start = self.stage.start.evaluate(document)?;
        let start = start.as_ref().map(Value::get);
        let key = start.map(|start| Key::of(start).bytes).unwrap_or_default();
        let with = |found: &RawArrayBuf| {
            interrupt::check_sized(found.as_bytes().len())?;
            Ok(set(document, &self.stage.to, 0, Some(RawBsonRef::Array(found))))
        };
        if let Some(found) = self.known.get(&key) {
            return with(found);
        }
        let found = self.stage.search(start, &*self.foreign)?;
        let joined = with(&found);
        let bytes = key.len() + found.as_bytes().len();
        let known_bytes = self.known_bytes + bytes;
        if known_bytes <= KNOWN_BYTES_MAX && self.memory.resize(known_bytes).is_ok() {
            self.known_bytes = known_bytes;
            self.known.insert(key, found);
        }
        joined
    }
}

impl GraphLookup {
    /// The documents found from a value, or from the elements of an array.
    fn search(&self, start: Option<RawBsonRef<'_>>, foreign: &dyn Foreign) -> Result<RawArrayBuf> {
        let mut search = Search::default();
        match start {
            Some(RawBsonRef::Array(array)) => {
                array_elements(array).for_each(|element| search.ask(element.value()));
            }
            Some(value) => search.ask(value),
            None => {}
        }
        search.check()?;
        let mut depth = 0;
        while !search.frontier.is_empty() && self.depth_max.is_none_or(|most| depth <= most) {
            let frontier = std::mem::take(&mut search.frontier);
            let filter = Filter::parse(&self.filter(&frontier), &self.context)?;
            let pipeline = Pipeline::from_stages(vec![Box::new(Match::new(filter))]);
            for next in foreign.run(foreign.database(), &self.from, pipeline)? {
                self.visit(&next?, depth, &mut search)?;
            }
            depth += 1;
        }
        Ok(search.out.finish())
    }

    fn visit(&self, document: &RawDocument, depth: u64, search: &mut Search) -> Result<()> {
        let Some(id) = get(document, "_id") else {
            return Err(Code::location(40271).error(format!(
                "Documents in the '{}' namespace must contain an _id for de-duplication in $graphLookup",
                self.from
            )));
        };
        let key = Key::of(id.value()).bytes;
        search.bytes += key.len();
        if !search.found.insert(key) {
            return Ok(());
        }
        let mut values = Vec::new();
        collect(&self.connect_from, 0, RawBsonRef::Document(document), &mut values);
        values.into_iter().for_each(|value| search.ask(value));
        match &self.depth_field {
            None => search.out.push(RawBsonRef::Document(document)),
            Some(field) => {
                let document = set(document, field, 0, Some(RawBsonRef::Int64(depth as i64)));
                search.out.push(RawBsonRef::Document(&document));
            }
        }
        search.check()
    }

    fn filter(&self, frontier: &[RawBson]) -> RawDocumentBuf {
        let mut filter = DocumentWriter::new();
        filter.begin_array("$and");
        if let Some(restrict) = &self.restrict {
            filter.push(RawBsonRef::Document(restrict));
        }
        filter.begin_next_document();
        filter.begin_document(&self.connect_to);
        filter.begin_array("$in");
        frontier.iter().for_each(|value| filter.push(value.as_raw_bson_ref()));
        filter.end();
        filter.end();
        filter.end();
        // Null is looked for as a value; what lacks the field is not meant.
        if frontier.iter().any(|value| matches!(value, RawBson::Null)) {
            filter.begin_next_document();
            filter.begin_document(&self.connect_to);
            filter.append("$exists", RawBsonRef::Boolean(true));
            filter.end();
            filter.end();
        }
        filter.end();
        filter.finish()
    }
}

impl Stage for GraphLookup {
    fn name(&self) -> &'static str {
        "$graphLookup"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let mut run = Run {
            stage: self,
            foreign: foreign.clone(),
            known: FxHashMap::default(),
            known_bytes: 0,
            memory: budget::Held::new(Kind::Work),
        };
        Ok(Box::new(input.map(move |document| run.document(&document?))))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.start.needs(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(vec![self.to.clone()])
    }

    fn foreign_collections(&self) -> Vec<&str> {
        vec![&self.from]
    }
}
