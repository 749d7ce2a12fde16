//! Reads of collections whose arrays overflow.

use super::Call;
use super::aggregate::{self, Prepared, take_front};
use super::context::context;
use super::reading::{self, Resolved, first_batch};
use crate::Engine;
use crate::catalog::{Catalog, Collection};
use crate::cursor::{Cursor, Rows, Source};
use crate::plan::{self, Hint, Interrupt, Query};
use crate::policies::read::{Place, Shown};
use crate::storage::{Document, View};
use bson::{RawDocument, RawDocumentBuf};
use command::views::Find;
use command::{Namespace, Reply};
use error::{Code, Error, Result};
use guard::read::{SEEN_BYTES_MAX, Shape};
use guard::{Guarded, Policy};
use language::aggregate::stages::Match;
use language::aggregate::{Documents, Pipeline};
use language::projection::Projection;
use language::query::Filter;
use language::{Context, Needs};
use std::sync::Arc;
use value::{Path, elements};
use write::limits::DOCUMENT_BYTES_MAX;

/// How a collection's documents are to be shown; `None` as they are stored.
pub fn shape(
    call: Call<'_>,
    namespace: &Namespace,
    projection: Option<&RawDocument>,
) -> Result<Option<Shape>> {
    match call.engine.policies.get(namespace).as_deref() {
        Some(Guarded::Policy(policy)) => Shape::new(policy, projection),
        _ => Ok(None),
    }
}

/// Whether a filter looks at an array that is shown whole.
pub fn sees_whole(
    call: Call<'_>,
    namespace: &Namespace,
    filter: &RawDocument,
    also: Option<&str>,
) -> Result<bool> {
    let Some(shape) = shape(call, namespace, None)? else { return Ok(false) };
    let mut needs = Needs::none();
    Filter::parse(filter, &Context::new())?.depends_on(&mut needs);
    also.into_iter().for_each(|path| needs.add(&value::Path::new(path)));
    Ok(shape.merges(&needs))
}

/// Whether only arrays that are shown whole can tell which documents are found, and in what
/// order.
pub fn is_told_by_whole(query: &Query, shape: &Shape) -> bool {
    let mut looked_at = Needs::none();
    query.filter.depends_on(&mut looked_at);
    query.sort.needs(&mut looked_at);
    let bounds = [&query.min, &query.max].into_iter().flatten();
    bounds.flat_map(|bound| elements(bound)).for_each(|it| looked_at.add(&Path::new(it.key)));
    shape.merges(&looked_at)
}

/// A find whose documents are shown with elements from their pages.
pub fn find(
    call: Call<'_>,
    find: &Find<'_>,
    resolved: Resolved,
    shape: Shape,
    mut query: Query,
) -> Result<Reply> {
    let rows: Rows = if is_told_by_whole(&query, &shape) {
        let filter = query.filter.clone();
        let projection = query.projection.take();
        let documents = prepare(find, resolved)?.documents(call)?;
        Box::new(documents.map(move |document| {
            project(&document?, projection.as_deref(), &filter).map(Document::Built)
        }))
    } else {
        let Some(collection) = resolved.collection else {
            return Ok(command::CursorReply::first().finish(0, &find.namespace.to_string()));
        };
        let context = context(Some(&collection), find.collation, find.variables)?;
        Box::new(planned(call, collection, &context, query, shape)?)
    };
    let cursor = Cursor {
        namespace: find.namespace.clone(),
        owner: call.owner(),
        source: Source::Rows(rows),
        no_timeout: find.no_cursor_timeout,
        interrupt: call.operation.interrupt.clone(),
        pending: None,
        time: reading::time(call),
    };
    first_batch(call, cursor, find.batch_size.map(i64::unsigned_abs), find.single_batch)
}

/// The aggregation that a find by arrays which are shown whole is, without its projection.
pub fn prepare(find: &Find<'_>, resolved: Resolved) -> Result<Prepared> {
    aggregate::prepare_unprojected(find, resolved).map_err(as_aggregation)
}

/// An option that a find by whole arrays does not take.
fn as_aggregation(error: Error) -> Error {
    match error.code() {
        Code::InvalidPipelineOperator => {
            error.context("a find by arrays that are shown whole (read: merged) is an aggregation")
        }
        _ => error,
    }
}

fn project(
    document: &RawDocument,
    projection: Option<&Projection>,
    filter: &Filter,
) -> Result<RawDocumentBuf> {
    match projection {
        None => Ok(document.to_owned()),
        Some(projection) => {
            let matched = match projection.needs_match() {
                true => filter.matches_at(document)?.unwrap_or_default(),
                false => Default::default(),
            };
            projection.apply(document, matched)
        }
    }
}

/// The planner finds the documents by their heads; then they are shown.
fn planned(
    call: Call<'_>,
    collection: Arc<Collection>,
    context: &Context,
    mut query: Query,
    mut shape: Shape,
) -> Result<Shown> {
    let projection = leave_projection(&mut query, &mut shape, context)?;
    let shows_record = std::mem::take(&mut query.show_record_id);
    let place = Place {
        catalog: call.catalog()?,
        view: reading::view(call)?,
        interrupt: call.operation.interrupt.clone(),
        collection: collection.clone(),
    };
    let rows = plan::open(&collection, query, place.view.clone(), place.interrupt.clone())?;
    let bytes_max = match projection {
        // What is left of it in the end is what counts.
        Some(_) => SEEN_BYTES_MAX,
        None => DOCUMENT_BYTES_MAX,
    };
    Ok(Shown { rows, shape, place, projection, bytes_max, shows_record })
}

/// Takes the projection out of what the planner is asked for: it is applied once documents
/// are put together with their pages.
pub fn leave_projection(
    query: &mut Query,
    shape: &mut Shape,
    context: &Context,
) -> Result<Option<(Projection, Arc<Filter>)>> {
    let mut needs = Needs::none();
    let projection = match &shape.projection {
        Some(spec) => {
            let projection = Projection::parse(spec, Some(&query.filter), context)?;
            projection.needs(&mut needs);
            if projection.needs_match() {
                query.filter.needs(&mut needs);
            }
            Some((projection, query.filter.clone()))
        }
        None => {
            needs.all();
            None
        }
    };
    shape.restrict(&needs);
    query.projection = None;
    query.needs = shape.needs(needs);
    Ok(projection)
}

/// What a pipeline reads of a collection that is shown whole.
pub struct Merging<'a> {
    pub engine: &'a Engine,
    pub catalog: Arc<Catalog>,
    pub view: View,
    pub interrupt: Interrupt,
}

impl Merging<'_> {
    /// The documents of a collection, put together; `None` if the pipeline does
    /// not look at what is in pages. The planner takes over the front of the pipeline,
    /// unless that must see the whole arrays.
    pub fn documents(
        self,
        collection: &Arc<Collection>,
        pipeline: &mut Pipeline,
        asked: Asked<'_>,
    ) -> Result<Option<Documents>> {
        let below = below(self.engine, collection, pipeline, asked)?;
        let Some((query, shape)) = below else { return Ok(None) };
        let place = Place {
            catalog: self.catalog,
            view: self.view,
            interrupt: self.interrupt,
            collection: collection.clone(),
        };
        let rows = plan::open(collection, query, place.view.clone(), place.interrupt.clone())?;
        let shown = Shown::seen(rows, shape, place);
        Ok(Some(Box::new(shown.map(|document| document.map(RawDocumentBuf::from)))))
    }
}

/// What the planner is asked for where a pipeline sees documents put together with their
/// pages, and how they are; `None` if it does not look at what is in pages.
pub fn below(
    engine: &Engine,
    collection: &Collection,
    pipeline: &mut Pipeline,
    asked: Asked<'_>,
) -> Result<Option<(Query, Shape)>> {
    let guarded = engine.policies.get(&collection.namespace);
    let Some(Guarded::Policy(policy)) = guarded.as_deref() else { return Ok(None) };
    let Some(mut shape) = Shape::new(policy, None)? else { return Ok(None) };
    let mut needs = pipeline.needs();
    if let Some(stage) = pipeline.front::<Match>() {
        stage.filter.needs(&mut needs);
    }
    if !shape.merges(&needs) {
        return Ok(None);
    }
    shape.restrict(&needs);
    let mut query = query_below(pipeline, &shape, policy, asked)?;
    query.needs = shape.needs(needs);
    Ok(Some((query, shape)))
}

/// How a pipeline is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub context: &'a Context,
    pub hint: Option<&'a Hint>,
    pub allow_disk_use: bool,
}

/// What the planner is asked for before documents are put together with their pages.
fn query_below(
    pipeline: &mut Pipeline,
    shape: &Shape,
    policy: &Policy,
    asked: Asked<'_>,
) -> Result<Query> {
    let mut rest = pipeline.clone();
    let hint = asked.hint.cloned();
    let mut query = take_front(&mut rest, asked.context, hint, asked.allow_disk_use)?;
    if !is_told_by_whole(&query, shape) && !query.metadata.any() {
        *pipeline = rest;
        return Ok(query);
    }
    // It all stays in the pipeline, which sees the whole arrays.
    let hidden: Vec<&Path> = policy.merged().map(|rule| &rule.path).collect();
    let mut below = Query::new(Arc::new(query.filter.relaxed(&hidden)));
    below.collator = query.collator.take();
    below.hint = query.hint.take().filter(|hint| matches!(hint, Hint::Natural(_)));
    Ok(below)
}
