//! A parsed pipeline, and documents flowing through it.

use super::limits::{PIPELINE_DEPTH_MAX, PIPELINE_STAGES_MAX};
use super::stages::{self, Match, Source, Stage, Target};
use super::{Counted, Foreign, Tally, optimize};
use crate::{Context, Needs, interrupt};
use bson::{RawArray, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use value::Path;
use value::element::array_elements;

/// A stream of documents, pulled.
pub type Documents = Box<dyn Iterator<Item = Result<RawDocumentBuf>> + Send>;

/// Where a pipeline stands; some stages are not allowed everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// An `aggregate` command, or a view.
    Top,
    /// An `aggregate` command that names no collection.
    Database,
    Facet,
    Lookup,
    UnionWith,
    /// An update, or `$merge`'s `whenMatched`.
    Update,
}

/// Its stages hold no state of a run, so that a copy is cheap and runs by itself.
#[derive(Debug, Clone)]
pub struct Pipeline {
    stages: VecDeque<Arc<dyn Stage>>,
}

impl Pipeline {
    pub fn parse(stages: &RawArray, context: &Context) -> Result<Pipeline> {
        Pipeline::parse_in(stages, context, Place::Top)
    }

    /// The pipeline of an update: only stages that turn one document into one. A constant
    /// that cannot be evaluated fails where a document comes to it, and not before.
    pub fn parse_update(stages: &RawArray, context: &Context) -> Result<Pipeline> {
        if let Ok(folded) = Pipeline::parse_in(stages, context, Place::Update) {
            return Ok(folded);
        }
        interrupt::check_now()?;
        Pipeline::parse_in(stages, &context.without_folding(), Place::Update)
    }

    pub fn parse_in(stages: &RawArray, context: &Context, place: Place) -> Result<Pipeline> {
        Pipeline::parse_nested(stages, context, place, 0)
    }

    /// As `parse_in`, for a pipeline inside `depth` others.
    pub fn parse_nested(
        stages: &RawArray,
        context: &Context,
        place: Place,
        depth: usize,
    ) -> Result<Pipeline> {
        if depth > PIPELINE_DEPTH_MAX {
            return Err(Code::MaxSubPipelineDepthExceeded.error(format!(
                "Maximum number of nested sub-pipelines exceeded. Limit is {PIPELINE_DEPTH_MAX}"
            )));
        }
        if array_elements(stages).nth(PIPELINE_STAGES_MAX).is_some() {
            return Err(Code::location(7749501).error(format!(
                "Pipeline length must be no longer than {PIPELINE_STAGES_MAX} stages."
            )));
        }
        stages::check_names(stages)?;
        let mut parsed = Vec::new();
        for stage in array_elements(stages).filter_map(|element| element.value().as_document()) {
            parsed.extend(stages::parse(stage, context, place, depth)?);
        }
        if place == Place::Database {
            stages::check_database(&parsed)?;
        }
        stages::check_positions(&parsed)?;
        let stages = optimize::optimize(parsed);
        interrupt::check_now()?;
        Ok(Pipeline { stages })
    }

    /// A pipeline of stages that are already parsed.
    pub fn from_stages(stages: Vec<Box<dyn Stage>>) -> Pipeline {
        Pipeline { stages: optimize::optimize(stages) }
    }

    /// The stages in order. A stage is told apart by `downcast_ref`: the ones a
    /// planner takes over are `Match`, `Sort`, `Limit`, `Skip`, `Project`.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = &dyn Stage> {
        self.stages.iter().map(|stage| &**stage)
    }

    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// The first stage, if it is of this type.
    pub fn front<S: Stage>(&self) -> Option<&S> {
        let stage: &dyn Any = &**self.stages.front()?;
        stage.downcast_ref()
    }

    /// Takes the first stage off, if it is of this type; `read` says what of it
    /// is given back.
    pub fn take_front<S: Stage, T>(&mut self, read: impl FnOnce(&S) -> T) -> Option<T> {
        let read = read(self.front::<S>()?);
        self.stages.pop_front();
        Some(read)
    }

    /// Puts a stage before all others.
    pub fn push_front(&mut self, stage: impl Stage) {
        self.stages.push_front(Arc::new(stage));
    }

    /// Puts a stage behind the first.
    pub fn insert_second(&mut self, stage: impl Stage) {
        self.stages.insert(1.min(self.stages.len()), Arc::new(stage));
    }

    /// Puts a filter behind all stages, and from there as far to the front as it may go.
    pub fn push_match(&mut self, filter: Match) {
        let mut filter = filter;
        let mut goes = |stage: &Arc<dyn Stage>| {
            let other: &dyn Any = &**stage;
            other.is::<Match>() || optimize::goes_before(&mut filter, &**stage)
        };
        let passed = self.stages.iter().rev().take_while(|stage| goes(stage)).count();
        self.stages.insert(self.stages.len() - passed, Arc::new(filter));
    }

    /// This pipeline behind another, that of a view. Its leading filter goes as far
    /// to the front as it may, so that the view's collection can use an index.
    pub fn behind(mut self, view: Pipeline) -> Pipeline {
        let mut stages = view.stages;
        let read = self.front::<Match>().map(|first| optimize::read_by(&first.filter.root));
        if let Some(read) = read
            && let Some(filter) = self.stages.pop_front()
        {
            let stays = |stage: &Arc<dyn Stage>| {
                let other: &dyn Any = &**stage;
                !other.is::<Match>() && !stage.lets_pass(&read)
            };
            let at = stages.iter().rposition(stays).map_or(0, |last| last + 1);
            stages.insert(at, filter);
        }
        stages.append(&mut self.stages);
        Pipeline { stages }
    }

    /// Where the documents come from, if not from the collection: the first
    /// stage, whose documents the runner passes to `run`.
    pub fn source(&self) -> Option<&Source> {
        self.stages.front().and_then(|stage| stage.source())
    }

    /// Where the documents go: `$out` or `$merge`. The runner writes what `run`
    /// gives there.
    pub fn target(&self) -> Option<&Target> {
        self.stages.back().and_then(|stage| stage.target())
    }

    /// The other collections that the pipeline reads.
    pub fn foreign_collections(&self) -> Vec<&str> {
        self.stages.iter().flat_map(|stage| stage.foreign_collections()).collect()
    }

    /// Pulls documents through every stage.
    pub fn run(self, input: Documents, foreign: Arc<dyn Foreign>) -> Result<Documents> {
        self.stages.into_iter().try_fold(input, |input, stage| stage.run(input, &foreign))
    }

    /// As `run`, with the figures of each stage by its name.
    pub fn run_counted(
        self,
        input: Documents,
        foreign: &Arc<dyn Foreign>,
    ) -> Result<(Documents, Vec<Counted>)> {
        let mut tallies = Vec::with_capacity(self.stages.len());
        let mut documents = input;
        for stage in self.stages {
            let tally = Arc::new(Tally::default());
            tallies.push((stage.name(), tally.clone()));
            let output = tally.timed(|| stage.run(documents, foreign))?;
            documents = tally.count(output);
        }
        Ok((documents, tallies))
    }

    /// The document that an update's pipeline makes of a document.
    pub fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut current = document.to_owned();
        for stage in &self.stages {
            match stage.transform() {
                Some(transform) => current = transform.apply(&current)?,
                None => {
                    return Err(Code::InvalidOptions.error(format!(
                        "{} is not allowed to be used within an update",
                        stage.name()
                    )));
                }
            }
        }
        Ok(current)
    }

    /// What `apply` must see, where values that only pass through may be stand-ins
    /// for what is not loaded.
    pub fn reads(&self, needs: &mut Needs) {
        for stage in &self.stages {
            match stage.transform() {
                Some(transform) => transform.reads(needs),
                None => needs.all(),
            }
        }
    }

    /// What the expressions of such stages look at, of the input or of what the stages
    /// before them made.
    pub fn computes_from(&self, needs: &mut Needs) {
        for stage in &self.stages {
            match stage.transform() {
                Some(transform) => transform.computes_from(needs),
                None => needs.all(),
            }
        }
    }

    /// Whether such a stage changes what stands at a path by something below it.
    pub fn goes_below(&self, path: &Path) -> bool {
        let mut transforms = self.stages.iter().filter_map(|stage| stage.transform());
        transforms.any(|transform| transform.goes_below(path))
    }

    /// What the pipeline looks at in its input documents.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::none();
        for stage in &self.stages {
            if stage.needs(&mut needs).is_break() {
                return needs;
            }
        }
        Needs::All
    }
}
