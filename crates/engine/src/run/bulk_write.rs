//! `bulkWrite`.

use super::{Call, listing, writing};
use bson::RawBsonRef;
use command::views::BulkWrite;
use command::{Namespace, Reply, append_write_concern_error};
use error::Result;
use value::DocumentWriter;
use write::statement::{self, Bulk, Totals};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let view = BulkWrite::parse(call.request)?;
    let writes = call.writes();
    let Bulk { results, totals, retried, .. } = statement::bulk_write(&writes, &view).await?;
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    let namespace = Namespace::new("admin", "$cmd.bulkWrite")?;
    let reply = listing::reply(call, namespace, results, view.batch_size)?;
    Ok(finish(call, &reply, &totals, &retried))
}

/// The cursor with the results, and the totals after it.
fn finish(call: Call<'_>, cursor: &Reply, totals: &Totals, retried: &[i32]) -> Reply {
    let mut out = DocumentWriter::new();
    let fields = value::elements(&cursor.body);
    fields.filter(|field| field.key != "ok").for_each(|field| out.copy(field));
    out.append_i32("nErrors", totals.errors);
    out.append_i32("nInserted", totals.inserted);
    out.append_i32("nMatched", totals.matched);
    out.append_i32("nModified", totals.modified);
    out.append_i32("nUpserted", totals.upserted);
    out.append_i32("nDeleted", totals.deleted);
    if !retried.is_empty() {
        out.begin_array("retriedStmtIds");
        retried.iter().for_each(|statement| out.push(RawBsonRef::Int32(*statement)));
        out.end();
    }
    if let Some(error) = writing::concern_error(call) {
        append_write_concern_error(&mut out, &error);
    }
    out.append_f64("ok", 1.0);
    Reply::new(out.finish())
}
