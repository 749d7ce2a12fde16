//! `planCacheClear`, `planCacheClearFilters`, `planCacheListFilters`: every query is planned
//! anew, so that there is nothing to clear and nothing to list.

use super::context::context;
use super::{Call, lookup};
use command::views::PlanCache;
use command::{Reply, ReplyWriter};
use error::Result;
use language::query::Filter;

pub async fn clear(call: Call<'_>) -> Result<Reply> {
    check(call, "planCacheClear")?;
    Ok(ReplyWriter::new().finish())
}

pub async fn clear_filters(call: Call<'_>) -> Result<Reply> {
    check(call, "planCacheClearFilters")?;
    Ok(ReplyWriter::new().finish())
}

pub async fn list_filters(call: Call<'_>) -> Result<Reply> {
    check(call, "planCacheListFilters")?;
    let mut reply = ReplyWriter::new();
    reply.writer().begin_array("filters");
    reply.writer().end();
    Ok(reply.finish())
}

fn check(call: Call<'_>, name: &'static str) -> Result<()> {
    let asked = PlanCache::parse(call.request, name)?;
    if let Some(collection) = call.collection(&asked.namespace)? {
        lookup::refuse_view(&collection)?;
    }
    if let Some(query) = asked.query {
        Filter::parse(query, &context(None, None, None)?)?;
    }
    Ok(())
}
