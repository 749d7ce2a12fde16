//! `insert`.

use super::writes::Writes;
use super::{Call, writing};
use bson::RawDocument;
use command::views::Insert;
use command::{Reply, WriteReply};
use error::Result;
use std::borrow::Cow;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let insert = Insert::parse(call.request)?;
    writing::check_target(call, &insert.namespace)?;
    let writes = Writes::of(call);
    let mut reply = WriteReply::of(insert.documents.len());
    let pending = match writes.is_retryable() {
        true => Some(pending(&writes, &insert, &mut reply)?),
        false => None,
    };
    let documents: Cow<'_, [&RawDocument]> = match &pending {
        None => Cow::Borrowed(&insert.documents),
        Some(places) => places.iter().map(|place| insert.documents[*place]).collect(),
    };
    let failures = &mut reply.failures;
    let inserted = write::insert(
        &writes,
        &insert.namespace,
        &documents,
        insert.options.ordered,
        insert.options.bypass_validation,
        |index, error| {
            let index = pending.as_ref().map_or(index, |places| places[index]);
            writing::goes_on(call, failures, index, error, false).map(|_| ())
        },
    )
    .await?;
    reply.n += inserted as i32;
    writing::finish(call, &writes, reply).await
}

/// The places of the documents that have not been inserted before; the reply
/// counts those that have.
fn pending(writes: &Writes, insert: &Insert<'_>, reply: &mut WriteReply) -> Result<Vec<usize>> {
    let (mut places, mut statements) = (Vec::new(), Vec::new());
    for place in 0..insert.documents.len() {
        let statement = insert.options.statement_at(place);
        if writes.recorded(statement)?.is_some() {
            reply.n += 1;
            reply.retried_statements.push(statement);
        } else {
            places.push(place);
            statements.push(statement);
        }
    }
    writes.number_inserts(statements);
    Ok(places)
}
