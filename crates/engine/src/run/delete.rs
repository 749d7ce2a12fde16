//! `delete`.

use super::context::context;
use super::reading::hint_value;
use super::writes::Writes;
use super::{Call, writing};
use bson::RawDocument;
use command::views::{Delete as DeleteView, DeleteStatement};
use command::{Namespace, Reply, WriteFailure, WriteReply};
use error::Result;
use language::query::Filter;
use std::sync::Arc;
use write::{Delete, Selection};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let delete = DeleteView::parse(call.request)?;
    writing::check_target(call, &delete.namespace)?;
    let writes = Writes::of(call);
    let mut reply = WriteReply::default();
    for (index, statement) in delete.statements.iter().enumerate() {
        let outcome = step(call, &writes, &delete.namespace, delete.variables, statement).await;
        match outcome {
            Ok(count) => reply.n += count as i32,
            Err(error) => {
                reply.failures.push(WriteFailure { index: index as i32, error });
                if delete.options.ordered {
                    break;
                }
            }
        }
    }
    writing::finish(call, &writes, reply).await
}

/// One statement of a delete; `bulkWrite` has the same.
pub async fn step(
    call: Call<'_>,
    writes: &Writes,
    namespace: &Namespace,
    variables: Option<&RawDocument>,
    statement: &DeleteStatement<'_>,
) -> Result<u64> {
    let collection = call.engine.registry.get(namespace);
    let context = context(collection.as_deref(), statement.collation, variables)?;
    let filter = Arc::new(Filter::parse(statement.query, &context)?);
    let selection = Selection {
        filter: &filter,
        sort: None,
        hint: hint_value(statement.hint),
        multi: statement.multi,
    };
    let deleted = write::delete(writes, namespace, &Delete { selection, returns: None }).await?;
    Ok(deleted.count)
}
