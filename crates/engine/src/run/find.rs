//! `find`.

use super::context::context;
use super::reading::{self, Resolved, first_batch, resolve_for};
use super::{Call, aggregate};
use crate::catalog::{Catalog, Collection};
use crate::cursor::{Cursor, Source, Tail};
use crate::plan::{self, Audience, Hint, Query, Sort};
use command::fields::Hint as HintField;
use command::views::Find;
use command::{CursorReply, Reply};
use error::{Code, Result};
use guard::read::ReadPlan;
use language::Metadatum;
use language::projection::Projection;
use language::query::Filter;
use std::sync::Arc;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let find = Find::parse(call.request)?;
    let catalog = call.catalog()?;
    let resolved = resolve_for(call, &catalog, &find.namespace)?;
    let resolved = if call.common.raw_data { resolved.raw() } else { resolved };
    if resolved.is_view {
        return aggregate::find_on_view(call, &find, catalog, resolved).await;
    }
    let query = query(&find, &resolved, &catalog)?;
    let collection = resolved.collection;
    if find.tailable {
        return tail(call, &find, collection.as_deref(), query);
    }
    let Some(collection) = collection else {
        let reply = CursorReply::first().at(reading::time(call));
        return Ok(reply.finish(0, &find.namespace.to_string()));
    };
    let interrupt = call.operation.interrupt.clone();
    let execution = plan::open(&collection, query, reading::view(call)?, interrupt)?;
    first_batch_of(call, &find, Source::Plan(Box::new(execution)))
}

/// The first batch of a find, from what it reads.
pub fn first_batch_of(call: Call<'_>, find: &Find<'_>, source: Source) -> Result<Reply> {
    let cursor = Cursor {
        no_timeout: find.no_cursor_timeout,
        time: reading::time(call),
        ..call.cursor(find.namespace.clone(), source)
    };
    first_batch(call, cursor, find.batch_size.map(i64::unsigned_abs), find.single_batch)
}

/// What a find asks of the planner.
pub fn query(find: &Find<'_>, resolved: &Resolved, catalog: &Catalog) -> Result<Query> {
    let context = context(resolved.collection.as_deref(), find.collation, find.variables)?;
    let filter = Arc::new(Filter::parse(find.filter, &context)?);
    let spec = Some(find.projection).filter(|spec| !spec.is_empty());
    let sort = Sort::parse(find.sort)?;
    let plan = match find.tailable {
        // No policy with pages is for a capped collection.
        true => ReadPlan::Stored,
        false => resolved.read_plan(spec, &sort),
    };
    let projection = match plan.projection().or(spec) {
        Some(spec) => Some(Arc::new(Projection::parse(spec, Some(&filter), &context)?)),
        None => None,
    };
    let mut query = Query::new(filter);
    query.projection = projection;
    query.projection_spec = spec.map(ToOwned::to_owned);
    query.sort = sort;
    query.metadata = context.asked.wanted();
    if query.metadata.has(Metadatum::SortKey) && query.sort.fields().is_empty() {
        return Err(Code::BadValue.error("cannot use sortKey $meta projection without a sort"));
    }
    query.skip = find.skip.unsigned_abs();
    query.limit = Some(find.limit.unsigned_abs());
    query.hint = find.hint.map(HintField::value).map(Hint::parse).transpose()?.flatten();
    check_natural(&query)?;
    query.min = Some(find.min).filter(|min| !min.is_empty()).map(ToOwned::to_owned);
    query.max = Some(find.max).filter(|max| !max.is_empty()).map(ToOwned::to_owned);
    query.collator = context.collator;
    query.return_key = find.return_key;
    // Of keys no number is shown.
    query.show_record_id = find.show_record_id && !find.return_key;
    query.allow_disk_use = find.allow_disk_use.unwrap_or(true);
    query.read_by(plan, catalog, Audience::Client)?;
    Ok(query)
}

/// A sort in natural order leaves a hint nothing to say but the same.
fn check_natural(query: &Query) -> Result<()> {
    match (&query.sort, &query.hint) {
        (Sort::Natural(_), Some(Hint::Name(_) | Hint::Keys(_))) => {
            Err(Code::BadValue.error("index hint not allowed with $natural sort order"))
        }
        (Sort::Natural(sort), Some(Hint::Natural(hint))) if sort != hint => Err(Code::BadValue
            .error("$natural hint must be in the same direction as $natural sort order")),
        _ => Ok(()),
    }
}

fn tail(
    call: Call<'_>,
    find: &Find<'_>,
    collection: Option<&Collection>,
    query: Query,
) -> Result<Reply> {
    if call.statement().is_some() {
        return Err(Code::OperationNotSupportedInTransaction
            .error("Cannot open a tailable cursor in a multi-document transaction."));
    }
    let Some(collection) = collection else {
        return Ok(CursorReply::first().finish(0, &find.namespace.to_string()));
    };
    if !collection.is_capped() {
        return Err(Code::BadValue.error(format!(
            "error processing query: ns={} tailable cursor requested on non capped collection",
            find.namespace
        )));
    }
    let interrupt = call.operation.interrupt.clone();
    let tail = Tail::new(collection, query, find.await_data, interrupt);
    first_batch_of(call, find, Source::Tail(Box::new(tail)))
}
