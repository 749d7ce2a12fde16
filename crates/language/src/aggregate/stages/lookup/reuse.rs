//! What a `$lookup` reads once for all its documents: the whole array where nothing in
//! the pipeline depends on the document, or what the stages before the first that does
//! give. Of a join by equality the arrays of a few values are kept. What does not fit in
//! memory is read anew each time.

use super::{Binding, Documents, Expression, Foreign, Joined, Lookup, Match, Pipeline};
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use crate::{Wanted, interrupt};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use budget::Kind;
use error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use value::element::{array_elements, elements};
use value::{ArrayWriter, Element};

/// What the arrays of a join by equality may take that are kept. When they take more, they go,
/// and the next are kept.
const EQUAL_BYTES_MAX: usize = 16 * 1024 * 1024;
/// An array that takes more of it is not kept.
const EQUAL_ARRAY_BYTES_MAX: usize = EQUAL_BYTES_MAX / 16;

/// Fields of a stage that make it give something else each time.
const RANDOM: [&str; 3] = ["$rand", "$sample", "$sampleRate"];

/// How much of a pipeline is the same for every document.
#[derive(Debug)]
pub enum Reuse {
    None,
    All,
    /// The array of documents whose `localField` has the same value.
    Equal,
    /// The stages that are the same, and those that follow.
    Prefix {
        same: Pipeline,
        rest: Pipeline,
    },
}

/// Finds what can be reused of the pipeline that `stages` was parsed to.
pub fn plan(
    stages: &RawArray,
    pipeline: &Pipeline,
    variables: &[(Arc<Binding>, Expression)],
    wanted: Wanted,
    parse: impl Fn(&RawArray) -> Result<Pipeline>,
) -> Result<Reuse> {
    let variables = names(variables);
    let depends = |stage: &Element<'_>| mentions(stage.value(), &variables);
    let Some(at) = array_elements(stages).position(|stage| depends(&stage)) else {
        return Ok(Reuse::All);
    };
    // What other stages leave for reuse carries no metadata.
    if at == 0 || wanted.any() {
        return Ok(Reuse::None);
    }
    let part = |stages: &mut dyn Iterator<Item = Element<'_>>| {
        let mut array = ArrayWriter::new();
        stages.for_each(|stage| array.copy(stage));
        parse(&array.finish())
    };
    let same = part(&mut array_elements(stages).take(at))?;
    // A filter that goes before all other stages may use an index: it stays there.
    if pipeline.front::<Match>().is_some() && same.front::<Match>().is_none() {
        return Ok(Reuse::None);
    }
    Ok(Reuse::Prefix { same, rest: part(&mut array_elements(stages).skip(at))? })
}

/// The same for a join by equality, whose stages stand behind its filter.
pub fn plan_equality(stages: &RawArray, variables: &[(Arc<Binding>, Expression)]) -> Reuse {
    let variables = names(variables);
    match array_elements(stages).any(|stage| mentions(stage.value(), &variables)) {
        true => Reuse::None,
        false => Reuse::Equal,
    }
}

fn names(variables: &[(Arc<Binding>, Expression)]) -> FxHashSet<&str> {
    variables.iter().map(|(binding, _)| binding.name()).collect()
}

/// Whether anything in a value may refer to one of the variables, or to chance. It
/// looks at the text alone, so that it may say so of what is only alike.
fn mentions(value: RawBsonRef<'_>, variables: &FxHashSet<&str>) -> bool {
    match value {
        RawBsonRef::String(text) => text.strip_prefix("$$").is_some_and(|text| {
            let name = text.split('.').next().unwrap_or_default();
            variables.contains(name)
        }),
        RawBsonRef::Document(document) => elements(document)
            .any(|field| RANDOM.contains(&field.key) || mentions(field.value(), variables)),
        RawBsonRef::Array(array) => {
            array_elements(array).any(|item| mentions(item.value(), variables))
        }
        _ => false,
    }
}

/// One run of a `$lookup`, and what it has read for reuse.
pub struct Join {
    lookup: Arc<Lookup>,
    foreign: Arc<dyn Foreign>,
    kept: Kept,
    equal: Equal,
}

/// Arrays of a join by equality, by its filter.
struct Equal {
    arrays: FxHashMap<Box<[u8]>, Arc<Joined>>,
    bytes: usize,
    memory: budget::Held,
}

impl Equal {
    fn new() -> Equal {
        Equal { arrays: FxHashMap::default(), bytes: 0, memory: budget::Held::new(Kind::Work) }
    }

    fn keep(&mut self, filter: &RawDocument, joined: &Arc<Joined>) {
        let bytes = filter.as_bytes().len() + joined.array.as_bytes().len();
        if bytes > EQUAL_ARRAY_BYTES_MAX {
            return;
        }
        if self.bytes + bytes > EQUAL_BYTES_MAX {
            *self = Equal::new();
        }
        match self.memory.resize(self.bytes + bytes) {
            Ok(()) => {
                self.bytes += bytes;
                self.arrays.insert(filter.as_bytes().into(), joined.clone());
            }
            Err(_) => *self = Equal::new(),
        }
    }
}

enum Kept {
    Nothing,
    Array(Arc<Joined>),
    Documents(Arc<(Vec<RawDocumentBuf>, budget::Held)>),
    /// It was too large to be kept.
    TooLarge,
}

impl Join {
    pub fn new(lookup: Arc<Lookup>, foreign: Arc<dyn Foreign>) -> Join {
        Join { lookup, foreign, kept: Kept::Nothing, equal: Equal::new() }
    }

    /// The documents that are joined to a document.
    pub fn array(&mut self, document: &RawDocument) -> Result<Arc<Joined>> {
        interrupt::check_now()?;
        if let Kept::Array(array) = &self.kept {
            return Ok(array.clone());
        }
        let lookup = self.lookup.clone();
        let equality = lookup.equality(document);
        if let Some(filter) = &equality
            && let Some(array) = self.equal.arrays.get(filter.as_bytes())
        {
            return Ok(array.clone());
        }
        lookup.bind(document)?;
        if let Reuse::Prefix { same, rest } = &lookup.reuse
            && let Some(documents) = self.prefix(same)?
        {
            return lookup.array(rest.clone().run(documents, self.foreign.clone())?).map(Arc::new);
        }
        let pipeline = lookup.pipeline_for(equality.as_deref())?;
        let joined = Arc::new(lookup.array(lookup.read(pipeline, &self.foreign)?)?);
        match (&lookup.reuse, equality) {
            (Reuse::All, _) if joined.array.as_bytes().len() <= STAGE_MEMORY_BYTES_MAX => {
                self.kept = Kept::Array(joined.clone());
            }
            (Reuse::Equal, Some(filter)) => self.equal.keep(&filter, &joined),
            _ => {}
        }
        Ok(joined)
    }

    /// What the stages give that are the same for every document; `None` where that is
    /// too large to be kept.
    fn prefix(&mut self, same: &Pipeline) -> Result<Option<Documents>> {
        if let Kept::Nothing = self.kept {
            let documents = self.lookup.read(same.clone(), &self.foreign)?;
            self.kept = keep(documents)?;
        }
        let Kept::Documents(kept) = &self.kept else { return Ok(None) };
        let kept = kept.clone();
        Ok(Some(Box::new((0..kept.0.len()).map(move |at| Ok(kept.0[at].clone())))))
    }
}

fn keep(documents: Documents) -> Result<Kept> {
    let mut kept = Vec::new();
    let mut memory = budget::Held::new(Kind::Work);
    let mut bytes = 0;
    for document in documents {
        let document = document?;
        bytes += document.as_bytes().len();
        if bytes > STAGE_MEMORY_BYTES_MAX || memory.resize(bytes).is_err() {
            return Ok(Kept::TooLarge);
        }
        kept.push(document);
    }
    Ok(Kept::Documents(Arc::new((kept, memory))))
}
