//! The front of a pipeline, as far as the planner can do it.

use crate::plan::{Hint, Query, Sort, SortField};
use bson::RawDocumentBuf;
use error::Result;
use language::Context;
use language::aggregate::Pipeline;
use language::aggregate::stages::{Limit, Match, Skip, Sort as SortStage, Unwind};
use language::query::Filter;
use std::sync::Arc;

/// Takes leading `$match`, `$sort`, `$skip`, `$limit` off a pipeline.
pub fn take_front(
    pipeline: &mut Pipeline,
    context: &Context,
    hint: Option<Hint>,
    allow_disk_use: bool,
) -> Result<Query> {
    let filter = match pipeline.take_front(|stage: &Match| stage.filter.clone()) {
        Some(filter) => filter,
        None => Arc::new(Filter::parse(&RawDocumentBuf::new(), context)?),
    };
    let mut query = Query::new(filter);
    query.hint = hint;
    query.allow_disk_use = allow_disk_use;
    query.collator = context.collator.clone();
    if let Some(pattern) = pipeline.take_front(|sort: &SortStage| sort.pattern.clone()) {
        let field = |(path, direction): &(value::Path, value::key::Direction)| SortField {
            path: path.clone(),
            direction: *direction,
        };
        query.sort = Sort::Fields(pattern.fields().iter().map(field).collect());
    }
    query.skip = pipeline.take_front(|skip: &Skip| skip.0).unwrap_or_default();
    query.limit = pipeline.take_front(|limit: &Limit| limit.0);
    query.metadata = context.asked.wanted();
    query.needs = pipeline.needs();
    if let Some(unwind) = pipeline.front::<Unwind>() {
        unwind.take_parts();
        query.unwound = Some(unwind.path.clone());
    }
    Ok(query)
}
