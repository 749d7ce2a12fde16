//! Reads of collections whose arrays overflow.

use super::Call;
use super::aggregate;
use super::context::context;
use super::reading::{self, Resolved, first_batch};
use crate::catalog::{Catalog, Collection};
use crate::cursor::{Cursor, Rows, Source};
use crate::plan::{self, Interrupt, Query};
use crate::policies::read::{Place, Shown};
use crate::storage::{Document, View};
use bson::{RawDocument, RawDocumentBuf};
use command::views::Find;
use command::{Namespace, Reply};
use error::Result;
use guard::Guarded;
use guard::read::{Shape, relaxed};
use language::aggregate::stages::Match;
use language::aggregate::{Documents, Pipeline};
use language::projection::Projection;
use language::query::Filter;
use language::{Context, Needs};
use std::sync::Arc;

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
    Filter::parse(filter, &Context::new())?.needs(&mut needs);
    also.into_iter().for_each(|path| needs.add(&value::Path::new(path)));
    Ok(shape.merges(&needs))
}

/// A find whose documents are shown with elements from their pages.
pub fn find(
    call: Call<'_>,
    find: &Find<'_>,
    resolved: Resolved,
    shape: Shape,
    mut query: Query,
) -> Result<Reply> {
    let mut looked_at = Needs::none();
    query.filter.needs(&mut looked_at);
    query.sort.needs(&mut looked_at);
    let rows: Rows = if shape.merges(&looked_at) {
        let filter = query.filter.clone();
        let projection = query.projection.take();
        let documents = aggregate::prepare_unprojected(find, resolved)?.documents(call)?;
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
    let place = Place {
        catalog: call.catalog()?,
        view: reading::view(call)?,
        interrupt: call.operation.interrupt.clone(),
        collection: collection.clone(),
    };
    let rows = plan::open(&collection, query, place.view.clone(), place.interrupt.clone())?;
    Ok(Shown { rows, shape, place, projection })
}

/// What a pipeline reads of a collection that is shown whole.
pub struct Merging<'a> {
    pub engine: &'a crate::Engine,
    pub catalog: Arc<Catalog>,
    pub view: View,
    pub interrupt: Interrupt,
}

impl Merging<'_> {
    /// The documents of a collection, put together; `None` if the pipeline does
    /// not look at what is in pages. Its front is left in place: it must see the
    /// whole arrays.
    pub fn documents(
        self,
        collection: &Arc<Collection>,
        pipeline: &Pipeline,
        context: &Context,
    ) -> Result<Option<Documents>> {
        let guarded = self.engine.policies.get(&collection.namespace);
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
        let merged: Vec<_> = policy.merged().cloned().collect();
        let relaxed = match pipeline.front::<Match>() {
            Some(stage) => relaxed(&stage.filter, &merged)?,
            None => None,
        };
        let filter = match relaxed {
            Some(filter) => filter,
            None => Filter::parse(&RawDocumentBuf::new(), context)?,
        };
        let mut query = Query::new(Arc::new(filter));
        query.collator = context.collator.clone();
        query.needs = shape.needs(needs);
        let place = Place {
            catalog: self.catalog,
            view: self.view,
            interrupt: self.interrupt,
            collection: collection.clone(),
        };
        let rows = plan::open(collection, query, place.view.clone(), place.interrupt.clone())?;
        let shown = Shown { rows, shape, place, projection: None };
        Ok(Some(Box::new(shown.map(|document| document.map(RawDocumentBuf::from)))))
    }
}
