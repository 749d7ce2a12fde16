//! `dataSize`.

use super::context::context;
use super::{Call, lookup, reading};
use crate::catalog::Collection;
use crate::plan::{self, Hint, Query};
use crate::storage::Counts;
use bson::RawDocumentBuf;
use command::views::DataSize;
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use language::query::Filter;
use std::sync::Arc;
use std::time::Instant;
use value::DocumentWriter;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = DataSize::parse(call.request)?;
    let started = Instant::now();
    if asked.min.is_empty() != asked.max.is_empty() {
        return Err(Code::BadValue.error("only one of min or max specified"));
    }
    let counts = match call.engine.registry.get(&asked.namespace) {
        Some(collection) => {
            lookup::refuse_view(&collection)?;
            counts(call, &asked, &collection)?
        }
        None => Counts::default(),
    };
    let mut reply = ReplyWriter::new();
    reply.append("estimate", asked.estimate);
    reply.append("size", counts.bytes as i64);
    reply.append("numObjects", counts.documents as i64);
    reply.append("millis", started.elapsed().as_millis() as i64);
    Ok(reply.finish())
}

fn counts(call: Call<'_>, asked: &DataSize<'_>, collection: &Arc<Collection>) -> Result<Counts> {
    let view = reading::view(call)?;
    let all = view.counts(collection.id)?;
    if asked.min.is_empty() {
        return Ok(all);
    }
    let key = match asked.key_pattern.is_empty() {
        true => ascending(asked.min),
        false => asked.key_pattern.to_owned(),
    };
    let everything = Filter::parse(&RawDocumentBuf::new(), &context(None, None, None)?)?;
    let mut query = Query::new(Arc::new(everything));
    query.hint = Some(Hint::Keys(key));
    query.min = Some(asked.min.to_owned());
    query.max = Some(asked.max.to_owned());
    let rows = plan::open(collection, query, view, call.operation.interrupt.clone())?;
    let average = all.bytes.checked_div(all.documents).unwrap_or(0);
    let mut found = Counts::default();
    turn::aside(|| {
        for row in rows {
            let size = row?.document.as_bytes().len() as u64;
            found.documents += 1;
            found.bytes += if asked.estimate { average } else { size };
        }
        Ok(found)
    })
}

/// The index that a range without a key pattern means.
fn ascending(min: &bson::RawDocument) -> RawDocumentBuf {
    let mut key = DocumentWriter::new();
    value::elements(min).for_each(|field| key.append_i32(field.key, 1));
    key.finish()
}
