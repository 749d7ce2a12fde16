//! `count`.

use super::context::context;
use super::reading::{self, Resolved, resolve_for};
use super::{Call, aggregate, profile};
use crate::catalog::{Catalog, Collection};
use crate::plan::{self, Audience, Hint, Purpose, Query, Sort};
use command::fields::Hint as HintField;
use command::views::Count;
use command::{Reply, ReplyWriter};
use error::Result;
use language::Needs;
use language::query::Filter;
use std::sync::Arc;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let count = Count::parse(call.request)?;
    let catalog = call.catalog()?;
    let resolved = resolve_for(call, &catalog, &count.namespace)?;
    let n = if resolved.is_view {
        aggregate::count_on_view(call, &count, catalog, resolved)?
    } else {
        let query = query(&count, &resolved, &catalog)?;
        match &resolved.collection {
            Some(collection) => counted(call, &count, collection, query)?,
            None => 0,
        }
    };
    let mut reply = ReplyWriter::new();
    reply.append("n", i32::try_from(n).unwrap_or(i32::MAX));
    Ok(reply.finish())
}

fn counted(
    call: Call<'_>,
    count: &Count<'_>,
    collection: &Arc<Collection>,
    query: Query,
) -> Result<u64> {
    let view = reading::view(call)?;
    if count.query.is_empty() && count.hint.is_none() {
        let all = view.counts(collection.id)?.documents;
        let rest = all.saturating_sub(count.skip.unsigned_abs());
        return Ok(match count.limit.unsigned_abs() {
            0 => rest,
            limit => rest.min(limit),
        });
    }
    let mut execution = plan::open(collection, query, view, call.operation.interrupt.clone())?;
    let rows = turn::aside(|| execution.by_ref().try_fold(0, |rows, row| row.map(|_| rows + 1)))?;
    profile::note(call, &execution);
    // A plan that counts by itself gives no rows.
    Ok(rows + execution.counted())
}

/// What a count asks of the planner.
pub fn query(count: &Count<'_>, resolved: &Resolved, catalog: &Catalog) -> Result<Query> {
    let context = context(resolved.collection.as_deref(), count.collation, None)?;
    let mut query = Query::new(Arc::new(Filter::parse(count.query, &context)?));
    query.purpose = Purpose::Count;
    query.needs = Needs::none();
    query.skip = count.skip.unsigned_abs();
    query.limit = Some(count.limit.unsigned_abs());
    query.hint = count.hint.map(HintField::value).map(Hint::parse).transpose()?.flatten();
    query.collator = context.collator;
    query.read_by(resolved.read_plan(None, &Sort::None), catalog, Audience::Matching)?;
    Ok(query)
}
