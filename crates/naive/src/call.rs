//! Commands on the naive backend, as clients send them.

use crate::memory::{Copied, Ids, Memory, Past};
use bson::{RawDocument, RawDocumentBuf};
use command::views::{BulkWrite, Delete, FindAndModify, Insert, Update};
use command::{Namespace, Request};
use error::{Error, Result};
use guard::read::ReadPlan;
use language::Needs;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use value::{Collator, DocumentWriter};
use write::statement::{self, Bulk, Modified, Statements};
use write::{Backend, RetryRecord, Selection, Transactions};

/// The records of retryable statements, by the number of their command and their own.
pub type Records = Mutex<BTreeMap<(i64, i32), RawDocumentBuf>>;

/// One command.
pub struct Call<'a> {
    memory: &'a Memory,
    /// The number of a retryable one.
    number: Option<i64>,
}

impl Memory {
    /// Runs a write command and gives back its reply.
    pub async fn run(&self, command: &RawDocument, number: Option<i64>) -> Result<RawDocumentBuf> {
        let request = Request::from(command.to_owned());
        let call = Call { memory: self, number };
        match value::elements(command).next().map(|first| first.key) {
            Some("insert") => {
                let reply = statement::insert(&call, &Insert::parse(&request)?).await?;
                Ok(reply.finish().body)
            }
            Some("update") => {
                let reply = statement::update(&call, &Update::parse(&request)?).await?;
                Ok(reply.finish().body)
            }
            Some("delete") => {
                let reply = statement::delete(&call, &Delete::parse(&request)?).await?;
                Ok(reply.finish().body)
            }
            Some("findAndModify") => {
                let view = FindAndModify::parse(&request)?;
                let Modified { answer, retried } = statement::find_and_modify(&call, &view).await?;
                let mut reply = DocumentWriter::resume(answer);
                if let Some(retried) = retried {
                    reply.append_i32("retriedStmtId", retried);
                }
                Ok(reply.finish())
            }
            Some("bulkWrite") => {
                let view = BulkWrite::parse(&request)?;
                Ok(bulk(statement::bulk_write(&call, &view).await?))
            }
            other => panic!("a write command is expected, not {other:?}"),
        }
    }
}

/// The results, in the order of the engine's reply.
fn bulk(bulk: Bulk) -> RawDocumentBuf {
    let Bulk { results, totals, retried, .. } = bulk;
    let mut reply = DocumentWriter::new();
    reply.begin_array("results");
    results.iter().for_each(|result| reply.push(bson::RawBsonRef::Document(result)));
    reply.end();
    reply.append_i32("nErrors", totals.errors);
    reply.append_i32("nInserted", totals.inserted);
    reply.append_i32("nMatched", totals.matched);
    reply.append_i32("nModified", totals.modified);
    reply.append_i32("nUpserted", totals.upserted);
    reply.append_i32("nDeleted", totals.deleted);
    if !retried.is_empty() {
        reply.begin_array("retriedStmtIds");
        retried.iter().for_each(|number| reply.push(bson::RawBsonRef::Int32(*number)));
        reply.end();
    }
    reply.finish()
}

impl Transactions for Call<'_> {
    type Transaction = Copied;
    type Snapshot = Past;

    async fn begin(&self) -> Result<Copied> {
        self.memory.begin().await
    }

    async fn snapshot(&self) -> Result<Past> {
        self.memory.snapshot().await
    }
}

impl Backend for Call<'_> {
    type Candidates = Ids;

    async fn commit(&self, transaction: Copied, record: RetryRecord<'_>) -> Result<()> {
        let wrote = transaction.has_written();
        self.memory.commit(transaction, RetryRecord::None).await?;
        let (Some(command), true) = (self.number, wrote) else { return Ok(()) };
        let mut records = self.memory.records.lock().unwrap();
        match record {
            RetryRecord::None => {}
            RetryRecord::Inserts(numbers) => {
                let keys = numbers.iter().map(|number| (command, *number));
                records.extend(keys.map(|key| (key, RawDocumentBuf::new())));
            }
            RetryRecord::Statement { number, answer } => {
                records.insert((command, number), answer);
            }
        }
        Ok(())
    }

    async fn select(&self, namespace: &Namespace, selection: &Selection<'_>) -> Result<Ids> {
        self.memory.select(namespace, selection).await
    }
}

impl Statements for Call<'_> {
    fn check_target(&self, namespace: &Namespace) -> Result<()> {
        namespace.check_write()
    }

    fn collator(&self, _: &Namespace) -> Result<Option<Arc<Collator>>> {
        Ok(None)
    }

    fn projection(&self, namespace: &Namespace, fields: &RawDocument) -> Option<RawDocumentBuf> {
        let roles = self.memory.table.get(namespace)?;
        ReadPlan::new(roles, Some(fields), &Needs::none()).projection().map(RawDocument::to_owned)
    }

    fn is_retryable(&self) -> bool {
        self.number.is_some()
    }

    fn recorded(&self, number: i32) -> Result<Option<RawDocumentBuf>> {
        let Some(command) = self.number else { return Ok(None) };
        Ok(self.memory.records.lock().unwrap().get(&(command, number)).cloned())
    }

    fn of_statement(&self, error: Error) -> Result<Error> {
        Ok(error)
    }
}
