//! What a command has taken and done, counted for `serverStatus`.

use crate::counters::{CommandCount, Counter, Counters, Held, Latency};
use bson::RawDocument;
use command::table::Kind;
use command::{Command, Reply, Request};
use std::time::Instant;
use value::element;

/// A command under way.
pub(crate) struct Account<'a> {
    counters: &'a Counters,
    command: Option<&'static Command>,
    in_transaction: bool,
    started: Instant,
    /// Its place among the running reads or writes.
    _running: Option<Held<'a>>,
}

impl<'a> Account<'a> {
    pub fn open(counters: &'a Counters, request: &Request) -> Account<'a> {
        let command = command::command(request.name());
        let running = match command.map(|command| command.kind) {
            Some(Kind::Read) => Some(&counters.running_reads),
            Some(Kind::Write) => Some(&counters.running_writes),
            _ => None,
        };
        Account {
            counters,
            command,
            in_transaction: element::get(request.body(), "autocommit").is_some(),
            started: Instant::now(),
            _running: running.map(Held::new),
        }
    }

    /// Counts the command with its reply, or as one that failed.
    pub fn close(self, reply: Option<&Reply>) {
        let Some(command) = self.command else { return };
        if let Some(CommandCount { total, failed, .. }) = self.counters.command(command.name) {
            total.add(1);
            failed.add(usize::from(reply.is_none()));
        }
        if let Some(latency) = self.latency(command) {
            latency.operations.add(1);
            latency.microseconds.add(self.started.elapsed().as_micros() as usize);
        }
        if let Some(reply) = reply {
            self.count_documents(command, reply);
        }
    }

    /// Where its time is counted. A `hello` may wait for ten seconds for something to change.
    fn latency(&self, command: &Command) -> Option<&'a Latency> {
        let latencies = &self.counters.latencies;
        match command.kind {
            _ if matches!(command.name, "hello" | "isMaster") => None,
            _ if self.in_transaction => Some(&latencies.transactions),
            Kind::Read => Some(&latencies.reads),
            Kind::Write => Some(&latencies.writes),
            Kind::Schema | Kind::Server | Kind::Session => Some(&latencies.commands),
        }
    }

    fn count_documents(&self, command: &Command, reply: &Reply) {
        let documents = &self.counters.documents;
        let reply = &*reply.body;
        match command.name {
            "insert" => add(&documents.inserted, reply, "n"),
            "update" => {
                add(&documents.updated, reply, "nModified");
                documents.inserted.add(length(element::get(reply, "upserted")));
            }
            "delete" => add(&documents.deleted, reply, "n"),
            "bulkWrite" => {
                add(&documents.inserted, reply, "nInserted");
                add(&documents.inserted, reply, "nUpserted");
                add(&documents.updated, reply, "nModified");
                add(&documents.deleted, reply, "nDeleted");
            }
            "findAndModify" => {
                let Ok(done) = reply.get_document("lastErrorObject") else { return };
                // A removal says no more than how many there were.
                let counter = match done.get_bool("updatedExisting") {
                    Ok(true) => &documents.updated,
                    Ok(false) => &documents.inserted,
                    Err(_) => &documents.deleted,
                };
                add(counter, done, "n");
            }
            "find" | "getMore" | "aggregate" => documents.returned.add(batch_length(reply)),
            _ => {}
        }
    }
}

fn add(counter: &Counter, reply: &RawDocument, field: &str) {
    counter.add(reply.get_i32(field).map_or(0, |count| count.max(0) as usize));
}

fn batch_length(reply: &RawDocument) -> usize {
    let Ok(cursor) = reply.get_document("cursor") else { return 0 };
    let batch = element::get(cursor, "firstBatch").or_else(|| element::get(cursor, "nextBatch"));
    length(batch)
}

fn length(array: Option<value::Element<'_>>) -> usize {
    let array = array.and_then(|array| array.value().as_array());
    array.map_or(0, |array| element::array_elements(array).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{RawDocumentBuf, rawdoc};

    #[test]
    fn what_a_find_and_modify_did_is_counted() {
        let counters = Counters::default();
        let done = |reply: RawDocumentBuf| {
            let account = Account {
                counters: &counters,
                command: command::command("findAndModify"),
                in_transaction: false,
                started: Instant::now(),
                _running: None,
            };
            account.close(Some(&Reply::new(rawdoc! { "lastErrorObject": reply })));
            let documents = &counters.documents;
            [&documents.inserted, &documents.updated, &documents.deleted].map(Counter::get)
        };
        assert_eq!(done(rawdoc! { "n": 1, "updatedExisting": true }), [0, 1, 0]);
        assert_eq!(done(rawdoc! { "n": 1, "updatedExisting": false, "upserted": 7 }), [1, 1, 0]);
        assert_eq!(done(rawdoc! { "n": 0, "updatedExisting": false }), [1, 1, 0]);
        assert_eq!(done(rawdoc! { "n": 1 }), [1, 1, 1]);
    }
}
