//! `delete`.

use super::context::Let;
use super::{Statements, goes_on};
use crate::{Delete, Retry, Selection};
use bson::RawDocumentBuf;
use command::fields::Hint;
use command::views::{Delete as DeleteView, DeleteStatement};
use command::{Namespace, WriteReply};
use error::{Code, Result};
use language::query::Filter;
use std::sync::Arc;

pub async fn delete<B: Statements>(backend: &B, view: &DeleteView<'_>) -> Result<WriteReply> {
    backend.check_target(&view.namespace)?;
    let variables = Let::new(view.variables);
    let mut reply = WriteReply::of(view.statements.len());
    for (index, statement) in view.statements.iter().enumerate() {
        let one = DeleteOne { backend, namespace: &view.namespace, variables: &variables };
        let number = view.options.statement_at(index);
        match one.once(statement, number, &mut reply.retried_statements).await {
            Ok(count) => reply.n += count as i32,
            Err(error) => {
                let ordered = view.options.ordered;
                if !goes_on(backend, &mut reply.failures, index, error, ordered)? {
                    break;
                }
            }
        }
    }
    Ok(reply)
}

/// One statement of a delete; `bulkWrite` has the same.
pub struct DeleteOne<'a, B> {
    pub backend: &'a B,
    pub namespace: &'a Namespace,
    pub variables: &'a Let<'a>,
}

impl<B: Statements> DeleteOne<'_, B> {
    /// Carries the statement out, unless it was before.
    pub async fn once(
        &self,
        statement: &DeleteStatement<'_>,
        number: i32,
        retried: &mut Vec<i32>,
    ) -> Result<u64> {
        if self.backend.recorded(number)?.is_some() {
            retried.push(number);
            return Ok(1);
        }
        let retryable = self.backend.is_retryable();
        if statement.multi && retryable {
            return Err(
                Code::InvalidOptions.error("Cannot use (or request) retryable writes with limit=0")
            );
        }
        let context = self.variables.context(self.backend, self.namespace, statement.collation)?;
        let filter = Arc::new(Filter::parse(statement.query, &context)?);
        let selection = Selection {
            filter: &filter,
            sort: None,
            hint: statement.hint.map(Hint::value),
            multi: statement.multi,
        };
        let retry = Retry { number, answer: &|_| Ok(RawDocumentBuf::new()) };
        let retry = retryable.then_some(retry);
        let delete = Delete { selection, returns: None, retry };
        Ok(crate::delete(self.backend, self.namespace, &delete).await?.count)
    }
}
