//! `delete`.

use super::context::Let;
use super::reading::hint_value;
use super::writes::Writes;
use super::{Call, writing};
use bson::RawDocumentBuf;
use command::views::{Delete as DeleteView, DeleteStatement};
use command::{Namespace, Reply, WriteReply};
use error::{Code, Result};
use language::query::Filter;
use std::sync::Arc;
use write::{Delete, Selection};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let delete = DeleteView::parse(call.request)?;
    writing::check_target(call, &delete.namespace)?;
    let writes = Writes::of(call);
    let variables = Let::new(delete.variables);
    let mut reply = WriteReply::of(delete.statements.len());
    for (index, statement) in delete.statements.iter().enumerate() {
        let step = Step { writes: &writes, namespace: &delete.namespace, variables: &variables };
        let number = delete.options.statement_at(index);
        match step.once(call, statement, number, &mut reply.retried_statements).await {
            Ok(count) => reply.n += count as i32,
            Err(error) => {
                let ordered = delete.options.ordered;
                if !writing::goes_on(call, &mut reply.failures, index, error, ordered)? {
                    break;
                }
            }
        }
    }
    writing::finish(call, &writes, reply).await
}

/// One statement of a delete; `bulkWrite` has the same.
pub struct Step<'a> {
    pub writes: &'a Writes,
    pub namespace: &'a Namespace,
    pub variables: &'a Let<'a>,
}

impl Step<'_> {
    /// Carries the statement out, unless it was before.
    pub async fn once(
        &self,
        call: Call<'_>,
        statement: &DeleteStatement<'_>,
        number: i32,
        retried: &mut Vec<i32>,
    ) -> Result<u64> {
        if self.writes.recorded(number)?.is_some() {
            retried.push(number);
            return Ok(1);
        }
        if statement.multi && self.writes.is_retryable() {
            return Err(
                Code::InvalidOptions.error("Cannot use (or request) retryable writes with limit=0")
            );
        }
        let deleted = self.run(call, statement).await?;
        self.writes.seal(number, RawDocumentBuf::new).await?;
        Ok(deleted)
    }

    async fn run(&self, call: Call<'_>, statement: &DeleteStatement<'_>) -> Result<u64> {
        let collection = call.collection(self.namespace)?;
        let context = self.variables.context(collection.as_deref(), statement.collation)?;
        let filter = Arc::new(Filter::parse(statement.query, &context)?);
        let selection = Selection {
            filter: &filter,
            sort: None,
            hint: hint_value(statement.hint),
            multi: statement.multi,
        };
        let delete = Delete { selection, returns: None };
        Ok(write::delete(self.writes, self.namespace, &delete).await?.count)
    }
}
