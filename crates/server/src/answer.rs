//! From a command to the body of its reply: the one place where a command is
//! dispatched and where errors and panics become replies.

use crate::Backend;
use crate::connection::Connection;
use crate::counters::{Held, Operations};
use crate::frames::End;
use crate::run::{self, Call};
use crate::shared::Shared;
use bson::{RawBsonRef, RawDocument};
use command::refused::not_found;
use command::{Common, Reply, Request};
use error::{Code, Error, Result};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use tracing::{debug, error};
use value::DocumentWriter;
use wire::Query;

/// A reply's body, and whether another follows it unasked.
pub(crate) struct Answer {
    pub body: Vec<u8>,
    pub more: bool,
}

impl Answer {
    pub fn error(error: &Error) -> Answer {
        Answer { body: command::error_reply(error).body.into_bytes(), more: false }
    }
}

impl<B: Backend> Connection<B> {
    /// Runs one command. `Err` only where the connection ends meanwhile.
    pub async fn answer(
        &mut self,
        shared: &Shared,
        request: Request,
        exhaust: bool,
    ) -> Result<Answer, End> {
        let _active = Held::new(&shared.counters.active);
        count(&shared.counters.operations, &request);
        let streams =
            exhaust && matches!(request.name(), "getMore" | "hello" | "isMaster" | "ismaster");
        let result = AssertUnwindSafe(self.dispatch(shared, request, exhaust)).catch_unwind().await;
        self.session.greeted = true;
        let error = match result {
            Ok(Ok(reply)) => {
                let more = streams && continues(&reply);
                return Ok(Answer { body: self.timed(reply).body.into_bytes(), more });
            }
            Ok(Err(Failure::Ended(end))) => return Err(end),
            Ok(Err(Failure::Error(error))) => {
                shared.counters.user_asserts.add(1);
                debug!("a command of {} failed: {error}", self.session.client.address);
                error
            }
            Err(panic) => {
                shared.counters.internal_asserts.add(1);
                error!("a command panicked: {}", words(panic.as_ref()));
                Code::InternalError.error("an internal error occurred; the server's log says more")
            }
        };
        let reply = self.timed(command::error_reply(&error));
        Ok(Answer { body: reply.body.into_bytes(), more: false })
    }

    /// The reply with the times that a client may start a change stream at.
    fn timed(&self, reply: Reply) -> Reply {
        match self.backend.cluster_time() {
            Some(time) => command::append_cluster_time(reply, time),
            None => reply,
        }
    }

    /// OP_QUERY is answered for what drivers send before they know better.
    pub async fn query(&mut self, shared: &Shared, query: Query) -> Result<Answer, End> {
        let Some(database) = query.collection.strip_suffix(".$cmd") else {
            return Ok(Answer::error(&Code::location(5739101).error(
                "OP_QUERY is no longer supported. The client driver may require an upgrade.",
            )));
        };
        let request = legacy_request(&query.body, database);
        let name = request.name();
        if !matches!(name, "hello" | "isMaster" | "ismaster" | "buildInfo" | "buildinfo") {
            return Ok(Answer::error(&Code::UnsupportedOpQueryCommand.error(format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade."
            ))));
        }
        self.answer(shared, request, false).await
    }

    async fn dispatch(
        &mut self,
        shared: &Shared,
        request: Request,
        exhaust: bool,
    ) -> Result<Reply, Failure> {
        let Some(command) = command::command(request.name()) else {
            return Err(not_found(request.name()).into());
        };
        let Some(row) = run::find(command.name) else {
            return Ok(self.backend.run(request, &self.session.client).await?);
        };
        Common::parse(&request, command)?;
        if let Some(wait) = row.wait {
            let call = Call { shared, session: &mut self.session, request: &request, exhaust };
            if let Some(time) = wait(&call)? {
                let _waiting = Held::new(&shared.counters.awaiting_topology_changes);
                self.pause(shared, time).await.map_err(Failure::Ended)?;
            }
        }
        let mut call = Call { shared, session: &mut self.session, request: &request, exhaust };
        Ok((row.run)(&mut call)?)
    }
}

/// The command of an OP_QUERY, with its database where OP_MSG has it. Some
/// clients put the command under `$query`, beside a read preference.
fn legacy_request(body: &[u8], database: &str) -> Request {
    let mut command = DocumentWriter::new();
    if let Ok(body) = RawDocument::from_bytes(body) {
        let inner = match value::elements(body).next() {
            Some(first) if first.key == "$query" || first.key == "query" => {
                first.value().as_document()
            }
            _ => None,
        };
        for field in value::elements(inner.unwrap_or(body)) {
            if !matches!(field.key, "$db" | "$readPreference") {
                command.copy(field);
            }
        }
    }
    command.append("$db", RawBsonRef::String(database));
    Request::from(command.finish())
}

enum Failure {
    Error(Error),
    Ended(End),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

/// Whether the stream goes on after this reply: a cursor that is open, or any
/// hello.
fn continues(reply: &Reply) -> bool {
    match reply.body.get("cursor") {
        Ok(Some(RawBsonRef::Document(cursor))) => !matches!(cursor.get_i64("id"), Ok(0) | Err(_)),
        _ => true,
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(words), _) => words,
        (_, Some(words)) => words,
        _ => "without a message",
    }
}

fn count(operations: &Operations, request: &Request) {
    match request.name() {
        "insert" => operations.insert.add(statements(request, "documents")),
        "update" => operations.update.add(statements(request, "updates")),
        "delete" => operations.delete.add(statements(request, "deletes")),
        "find" => operations.query.add(1),
        "getMore" => operations.getmore.add(1),
        _ => operations.command.add(1),
    }
}

fn statements(request: &Request, field: &str) -> usize {
    request.documents(field).map_or(0, |documents| documents.len())
}
