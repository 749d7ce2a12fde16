//! The front of a pipeline, as far as the planner can do it.

use crate::catalog::Collection;
use crate::plan::{Hint, Query, Sort, SortField};
use bson::RawDocumentBuf;
use error::Result;
use language::Context;
use language::aggregate::Pipeline;
use language::aggregate::stages::{Limit, Match, Skip, Sort as SortStage};
use language::query::Filter;
use std::sync::Arc;

/// Takes leading `$match`, `$sort`, `$skip`, `$limit` off a pipeline.
pub fn take_front(
    pipeline: &mut Pipeline,
    context: &Context,
    hint: Option<Hint>,
    collection: &Collection,
) -> Result<Query> {
    let filter = match pipeline.take_front::<Match>() {
        Some(stage) => stage.filter,
        None => Filter::parse(&RawDocumentBuf::new(), context)?,
    };
    let mut query = Query::new(Arc::new(filter));
    query.hint = hint;
    query.collator = context.collator.clone();
    let takes_sort = pipeline
        .front::<SortStage>()
        .is_some_and(|sort| sort.limit.is_some() || may_order(collection, sort));
    if takes_sort && let Some(sort) = pipeline.take_front::<SortStage>() {
        let field = |(path, direction): &(value::Path, value::key::Direction)| SortField {
            path: path.clone(),
            direction: *direction,
        };
        query.sort = Sort::Fields(sort.pattern.fields().iter().map(field).collect());
        query.limit = sort.limit;
    }
    if query.limit.is_none()
        && let Some(skip) = pipeline.take_front::<Skip>()
    {
        query.skip = skip.0;
    }
    if query.limit.is_none()
        && let Some(limit) = pipeline.take_front::<Limit>()
    {
        query.limit = Some(limit.0);
    }
    query.needs = pipeline.needs();
    Ok(query)
}

/// Whether some index may give the order; otherwise the stage sorts by itself,
/// since it can spill to disk.
fn may_order(collection: &Collection, sort: &SortStage) -> bool {
    let first = sort.pattern.fields().first();
    first.is_some_and(|(path, _)| {
        collection
            .indexes
            .iter()
            .any(|index| index.ready && index.fields.iter().any(|field| field.path == *path))
    })
}
