//! `aggregate`, and the reads of views, which are pipelines too.

mod front;
mod input;
mod on_view;
mod replaced;
mod target;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
mod whole;
mod world;

pub use front::take_front;
pub use on_view::{
    count_on_view, distinct_on_view, find_on_view, prepare_count, prepare_distinct, prepare_find,
};
pub use target::next_batch;
pub use world::World;

use super::context::resolved_context;
use super::reading::{self, Resolved, first_batch, resolve_for};
use super::{Call, sources, watch, writing};
use crate::catalog::Catalog;
use crate::cursor::{Cursor, Source as CursorSource};
use crate::plan::{self, Audience, Hint, Query, Sort};
use crate::storage::{Document, View};
use bson::{RawArray, RawArrayBuf, RawDocument};
use command::fields::Hint as HintField;
use command::views::Aggregate;
use command::{Namespace, Reply};
use error::{Code, Result};
use input::Input;
use language::aggregate::{Counted, Documents, Foreign, Pipeline, Place, Tally};
use language::{Context, metadata};
use replaced::Replaced;
use std::sync::Arc;
use value::ArrayWriter;
use value::element::array_elements;
use whole::WholeArrays;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let aggregate = Aggregate::parse(call.request)?;
    if aggregate.explain {
        return super::explain::aggregate(call, &aggregate);
    }
    if watch::is_stream(&aggregate.pipeline) {
        return watch::open(call, &aggregate).await;
    }
    let prepared = prepare(call, &aggregate)?;
    let namespace = prepared.shown.clone();
    if let Some(target) = prepared.pipeline.target().cloned() {
        let documents = prepared.documents(call)?;
        return target::write(call, &aggregate, &namespace, target, documents).await;
    }
    let cursor = call.cursor(namespace, prepared.open(call)?);
    let cursor = Cursor { time: reading::time(call), ..cursor };
    first_batch(call, cursor, aggregate.batch_size.map(i64::unsigned_abs), false)
}

/// A pipeline ready to run over a collection.
#[derive(Clone)]
pub struct PreparedPipeline {
    pub pipeline: Pipeline,
    /// The whole pipeline as it is written, that of a view included.
    pub stages: RawArrayBuf,
    pub resolved: Resolved,
    /// The collections as they were before the view was taken: no index of theirs, nor of their
    /// pages, has entries that the view lacks.
    pub catalog: Arc<Catalog>,
    /// The namespace as the client named it.
    pub shown: Namespace,
    pub context: Context,
    pub hint: Option<Hint>,
    pub allow_disk_use: bool,
}

pub fn prepare(call: Call<'_>, aggregate: &Aggregate<'_>) -> Result<PreparedPipeline> {
    let catalog = call.catalog()?;
    let collection = catalog.get(&aggregate.namespace);
    let resolved = match is_collection_statistics(&aggregate.pipeline) {
        true => Resolved::itself(&aggregate.namespace, collection.cloned()),
        false => resolve_for(call, &catalog, &aggregate.namespace)?,
    };
    let context = resolved_context(&resolved, aggregate.collation, aggregate.variables)?;
    let whole = chain(&resolved.pipeline, &ArrayWriter::documents(&aggregate.pipeline));
    let collectionless = aggregate.namespace.is_collectionless();
    let place = if collectionless { Place::Database } else { Place::Top };
    let pipeline = Pipeline::parse_in(&whole, &context, place)?;
    if let Some(source) = pipeline.source()
        && !collectionless
        && source.is_independent()
    {
        return Err(Code::InvalidNamespace
            .error(format!("'{}' can only be run with {{aggregate: 1}}", source.name)));
    }
    check_foreign_collations(&catalog, &aggregate.namespace, &pipeline, &context)?;
    writing::check_pipeline(call, &pipeline)?;
    Ok(PreparedPipeline {
        pipeline,
        stages: whole,
        resolved,
        catalog,
        shown: aggregate.namespace.clone(),
        context,
        hint: aggregate.hint.map(HintField::value).map(Hint::parse).transpose()?.flatten(),
        allow_disk_use: aggregate.allow_disk_use.unwrap_or(true),
    })
}

/// Refuses a pipeline that reads views of another collation than its own.
fn check_foreign_collations(
    catalog: &Catalog,
    namespace: &Namespace,
    pipeline: &Pipeline,
    context: &Context,
) -> Result<()> {
    for name in pipeline.foreign_collections() {
        let Ok(foreign) = Namespace::new(&namespace.database, name) else { continue };
        let view = catalog.get(&foreign).filter(|foreign| foreign.is_view());
        if view.is_some_and(|view| view.collator != context.collator) {
            return Err(Code::OptionNotSupportedOnView
                .error(format!("Cannot override default collation of view {foreign}")));
        }
    }
    Ok(())
}

/// Statistics are those of a view itself, not of what it stands on.
fn is_collection_statistics(pipeline: &[&RawDocument]) -> bool {
    let first = pipeline.first().and_then(|stage| value::elements(stage).next());
    first.is_some_and(|first| first.key == "$collStats")
}

/// One pipeline after another.
pub fn chain(first: &RawArray, second: &RawArray) -> RawArrayBuf {
    let mut writer = ArrayWriter::new();
    array_elements(first).chain(array_elements(second)).for_each(|stage| writer.copy(stage));
    writer.finish()
}

impl PreparedPipeline {
    /// The results, as a cursor gives them out. What the planner can do alone
    /// needs no pipeline.
    pub fn open(mut self, call: Call<'_>) -> Result<CursorSource> {
        if self.pipeline.source().is_none()
            && let Some(collection) = self.resolved.collection.clone()
        {
            let view = reading::view(call)?;
            let query = self.query(Audience::Client)?;
            let whole = WholeArrays::of(&query);
            let interrupt = call.operation.interrupt.clone();
            let execution = plan::open(&collection, query, view.clone(), interrupt)?;
            if self.pipeline.is_empty() {
                return Ok(CursorSource::Plan(Box::new(execution)));
            }
            let input = Input::new(call, execution);
            let input: Documents = match whole.clone() {
                Some(whole) => Box::new(input.inspect(move |document| {
                    document.iter().for_each(|document| whole.note(document));
                })),
                None => Box::new(input),
            };
            let world = World::new(call, &self, view);
            let wanted = self.context.asked.wanted();
            let documents = turn::aside(|| self.pipeline.run(input, Arc::new(world)))?;
            let documents = metadata::detach_all(documents, wanted);
            return Ok(rows(match whole {
                Some(whole) => Box::new(documents.map(move |document| whole.fit(document?))),
                None => documents,
            }));
        }
        self.documents(call).map(rows)
    }

    /// What the planner is asked for: it takes the stages that it can off the pipeline. Who looks
    /// at the results does so at the documents where no stage is left.
    pub fn query(&mut self, audience: Audience) -> Result<Query> {
        let hint = self.hint.take();
        let mut query = take_front(&mut self.pipeline, &self.context, hint, self.allow_disk_use)?;
        let audience = match self.pipeline.is_empty() {
            true => audience,
            false => Audience::Stages,
        };
        query.read_by(self.resolved.read_plan(None, &Sort::None), &self.catalog, audience)?;
        Ok(query)
    }

    pub fn documents(mut self, call: Call<'_>) -> Result<Documents> {
        let view = reading::view(call)?;
        let world = World::new(call, &self, view.clone());
        let input = self.input(call, view)?;
        let documents = turn::aside(|| self.pipeline.run(input, Arc::new(world)))?;
        Ok(metadata::detach_all(documents, self.context.asked.wanted()))
    }

    /// What the stages take in, once the planner has taken over what it can.
    fn input(&mut self, call: Call<'_>, view: View) -> Result<Documents> {
        if let Some(source) = self.pipeline.source() {
            return sources::documents(call, &self.resolved.namespace, source);
        }
        let Some(collection) = self.resolved.collection.clone() else {
            return Ok(Box::new(std::iter::empty()));
        };
        let mut query = self.query(Audience::Stages)?;
        let replaced = Replaced::of(call, &collection, &self.pipeline, &query.needs);
        if let Some(replaced) = &replaced {
            replaced.needs(&mut query.needs);
            query.unwound = None;
        }
        let execution = plan::open(&collection, query, view, call.operation.interrupt.clone())?;
        let input = Input::new(call, execution);
        Ok(match replaced {
            Some(replaced) => Box::new(input.map(move |document| replaced.check(document?))),
            None => Box::new(input),
        })
    }

    /// Runs the pipeline to its end for the figures of its stages, those of the
    /// planner's part first.
    pub fn tallies(mut self, call: Call<'_>) -> Result<Vec<Counted>> {
        let view = reading::view(call)?;
        let world: Arc<dyn Foreign> = Arc::new(World::new(call, &self, view.clone()));
        let cursor = Arc::new(Tally::default());
        let input = cursor.count(self.input(call, view)?);
        turn::aside(|| {
            let (mut documents, stages) = self.pipeline.run_counted(input, &world)?;
            documents.try_for_each(|document| document.map(drop))?;
            Ok([("$cursor", cursor)].into_iter().chain(stages).collect())
        })
    }
}

fn rows(documents: Documents) -> CursorSource {
    CursorSource::Rows(Box::new(documents.map(|document| document.map(Document::Built))))
}
