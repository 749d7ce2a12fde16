//! From a command to the body of its reply: the one place where a command is
//! dispatched and where errors and panics become replies.

use crate::connection::{Connection, request};
use crate::counters::{Held, Operations};
use crate::frames::End;
use crate::run::{self, Call};
use crate::Backend;
use bson::{RawArrayBuf, RawBsonRef, RawDocumentBuf, cstr};
use command::{Reply, Request};
use error::{Code, Error, Result};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use tracing::error;
use wire::Query;

/// A reply's body, and whether another follows it unasked.
pub(crate) struct Answer {
    pub body: Vec<u8>,
    pub more: bool,
}

impl Answer {
    pub fn error(error: &Error) -> Answer {
        Answer { body: error_body(error).into_bytes(), more: false }
    }
}

impl<B: Backend> Connection<B> {
    /// Runs one command. `Err` only where the connection ends meanwhile.
    pub async fn answer(&mut self, request: Request, exhaust: bool) -> Result<Answer, End> {
        let shared = self.shared.clone();
        let _active = Held::new(&shared.counters.active);
        count(&shared.counters.operations, &request);
        let streams = exhaust && matches!(request.name(), "getMore" | "hello" | "isMaster" | "ismaster");
        let result = AssertUnwindSafe(self.dispatch(request, exhaust)).catch_unwind().await;
        self.session.greeted = true;
        let error = match result {
            Ok(Ok(reply)) => {
                let more = streams && continues(&reply);
                return Ok(Answer { body: reply.body.into_bytes(), more });
            }
            Ok(Err(Failure::Ended(end))) => return Err(end),
            Ok(Err(Failure::Error(error))) => {
                shared.counters.user_asserts.add(1);
                error
            }
            Err(panic) => {
                shared.counters.internal_asserts.add(1);
                error!("a command panicked: {}", words(panic.as_ref()));
                Code::InternalError.error("an internal error occurred; the server's log says more")
            }
        };
        Ok(Answer::error(&error))
    }

    /// OP_QUERY is answered for what drivers send before they know better.
    pub async fn query(&mut self, query: Query) -> Answer {
        if !query.collection.ends_with(".$cmd") {
            return Answer::error(&Code::location(5739101).error(
                "OP_QUERY is no longer supported. The client driver may require an upgrade.",
            ));
        }
        let request = request(query.body, Vec::new());
        let name = request.name();
        if !matches!(name, "hello" | "isMaster" | "ismaster" | "buildInfo" | "buildinfo") {
            return Answer::error(&Code::UnsupportedOpQueryCommand.error(format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade."
            )));
        }
        match self.answer(request, false).await {
            Ok(answer) => answer,
            Err(_) => Answer::error(&Code::ClientDisconnect.error("the client went away")),
        }
    }

    async fn dispatch(&mut self, request: Request, exhaust: bool) -> Result<Reply, Failure> {
        let Some(row) = run::find(request.name()) else {
            return Ok(self.backend.run(request, &self.session.client).await?);
        };
        let shared = self.shared.clone();
        if let Some(wait) = row.wait {
            let call = Call { shared: &shared, session: &mut self.session, request: &request, exhaust };
            if let Some(time) = wait(&call)? {
                let _waiting = Held::new(&shared.counters.awaiting_topology_changes);
                self.pause(time).await.map_err(Failure::Ended)?;
            }
        }
        let mut call = Call { shared: &shared, session: &mut self.session, request: &request, exhaust };
        Ok((row.run)(&mut call)?)
    }
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

fn error_body(error: &Error) -> RawDocumentBuf {
    let mut body = RawDocumentBuf::new();
    body.append(cstr!("ok"), 0.0);
    body.append(cstr!("errmsg"), error.message());
    body.append(cstr!("code"), error.code().number());
    body.append(cstr!("codeName"), error.code().name().as_ref());
    for (name, value) in error.details() {
        if let Ok(name) = bson::raw::CString::try_from(name) {
            body.append(name, value);
        }
    }
    if !error.labels().is_empty() {
        let labels: RawArrayBuf = error.labels().iter().copied().collect();
        body.append(cstr!("errorLabels"), labels);
    }
    body
}
