//! From a command to the body of its reply: the one place where a command is
//! dispatched and where errors and panics become replies.

use crate::Backend;
use crate::account::Account;
use crate::connection::Connection;
use crate::counters::{Held, Operations};
use crate::fail_points::{self, FailPoints, Target};
use crate::frames::End;
use crate::run::{self, Call};
use crate::shared::Shared;
use bson::{RawBsonRef, RawDocument, Timestamp};
use command::refused::not_found;
use command::{Command, Common, Reply, Request, Times};
use error::{Code, Error, Result};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracing::{debug, error};
use value::DocumentWriter;
use wire::{Outgoing, Query};

/// A reply's body, and the request of the reply that follows it unasked.
pub(crate) struct Answer {
    pub body: Vec<u8>,
    pub next: Option<Request>,
    /// What was reserved for the body when it was written.
    pub held: Option<Arc<budget::Held>>,
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
        let account = Account::open(&shared.counters, &request);
        let again = exhaust.then(|| request.clone());
        let before = self.commit_time();
        let result = AssertUnwindSafe(self.dispatch(shared, request, exhaust)).catch_unwind().await;
        self.session.greeted = true;
        account.close(result.as_ref().ok().and_then(|result| result.as_ref().ok()));
        let error = match result {
            Ok(Ok(reply)) => {
                let next = again.and_then(|request| next(request, &reply));
                return Ok(Answer { next, ..self.timed(reply, before) });
            }
            Ok(Err(Failure::Ended(end))) => return Err(end),
            Ok(Err(Failure::Reply(reply))) => return Ok(self.timed(reply, before)),
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
        Ok(self.timed(command::error_reply(&error), before))
    }

    /// The answer to a message that is no command.
    pub fn refusal(&self, error: &Error) -> Answer {
        self.timed(command::error_reply(error), self.commit_time())
    }

    fn commit_time(&self) -> u64 {
        self.session.client.commit_time.load(Ordering::Relaxed)
    }

    /// A reply with its times. That of a write is the time of its commit, so that a change
    /// stream from there on shows it; that of any other command is behind the last commit. No
    /// time is shown before it has been synced.
    fn timed(&self, reply: Reply, before: u64) -> Answer {
        let reply = match self.backend.cluster_time() {
            Some(last) => {
                let cluster = following(last);
                let operation = match self.commit_time() {
                    time if time == before => cluster,
                    time => timestamp(time).min(cluster),
                };
                command::append_cluster_time(reply, Times { cluster, operation })
            }
            None => reply,
        };
        Answer { body: reply.body.into_bytes(), next: None, held: reply.held }
    }

    /// OP_QUERY is answered for what drivers send before they know better. Without the flag
    /// of a failure, a query of a collection would have an error for a document.
    pub async fn query(&mut self, shared: &Shared, query: Query, to: i32) -> Result<Outgoing, End> {
        let id = self.reply_id();
        match query.collection.strip_suffix(".$cmd") {
            Some(database) => {
                let answer = self.legacy_command(shared, &query.body, database).await?;
                Ok(Outgoing::reply(id, to, answer.body))
            }
            None => {
                let error = Code::location(5739101).error(
                    "OP_QUERY is no longer supported. The client driver may require an upgrade.",
                );
                let body = command::query_failure(&error).body.into_bytes();
                Ok(Outgoing::query_failure(id, to, body))
            }
        }
    }

    async fn legacy_command(
        &mut self,
        shared: &Shared,
        body: &[u8],
        database: &str,
    ) -> Result<Answer, End> {
        let request = legacy_request(body, database);
        let name = request.name();
        if !matches!(name, "hello" | "isMaster" | "ismaster" | "buildInfo" | "buildinfo") {
            return Ok(self.refusal(&Code::UnsupportedOpQueryCommand.error(format!(
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
        let points = shared.fail_points.as_ref();
        let Some(command) = command::command(request.name()) else {
            return Ok(self.backend.run(request, &self.session.client).await?);
        };
        match points {
            None if command.for_tests => Err(not_found(command.name).into()),
            None => self.run(shared, command, request, exhaust).await,
            Some(points) => self.run_failing(shared, points, command, request, exhaust).await,
        }
    }

    /// Runs a command unless a fail point does something else.
    async fn run_failing(
        &mut self,
        shared: &Shared,
        points: &FailPoints,
        command: &'static Command,
        request: Request,
        exhaust: bool,
    ) -> Result<Reply, Failure> {
        let asked = request.clone();
        let common = Common::parse(&asked, command)?;
        let client = self.session.client.clone();
        let target = Target { request: &asked, command, common: &common, client: &client };
        if let Some(failure) = points.before(&target) {
            if let Some(time) = failure.block {
                self.pause(shared, time).await.map_err(Failure::Ended)?;
            }
            if failure.kills_cursor {
                // One that is gone already is no matter.
                let kill = fail_points::kill_cursor(&asked);
                let _ = self.backend.run(kill, &self.session.client).await;
            }
            if failure.close {
                return Err(Failure::Ended(End::Closed));
            }
            if let Some(reply) = failure.reply {
                return Err(Failure::Reply(reply));
            }
        }
        if command.name == "waitForFailPoint" {
            run::wait_for_fail_point::wait(shared, &asked, &common).await?;
        }
        let reply = self.run(shared, command, request, exhaust).await?;
        points.after(&target, reply).ok_or(Failure::Ended(End::Closed))
    }

    async fn run(
        &mut self,
        shared: &Shared,
        command: &'static Command,
        request: Request,
        exhaust: bool,
    ) -> Result<Reply, Failure> {
        let Some(row) = run::find(command.name) else {
            return Ok(self.backend.run(request, &self.session.client).await?);
        };
        if Common::parse(&request, command)?.help {
            return Ok(Reply::help(command));
        }
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

fn timestamp(time: u64) -> Timestamp {
    Timestamp { time: (time >> 32) as u32, increment: time as u32 }
}

/// The time behind a commit and before any later one.
fn following(time: Timestamp) -> Timestamp {
    let (increment, carries) = time.increment.overflowing_add(1);
    Timestamp { time: time.time.saturating_add(carries.into()), increment }
}

enum Failure {
    Error(Error),
    /// A reply that says what is wrong.
    Reply(Reply),
    Ended(End),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

/// What a stream goes on with after this reply: the cursor while it is open, or the hello of
/// a client that knows what it was just sent.
fn next(request: Request, reply: &Reply) -> Option<Request> {
    match request.name() {
        "getMore" => {
            let cursor = reply.body.get_document("cursor").ok()?;
            matches!(cursor.get_i64("id"), Ok(id) if id != 0).then_some(request)
        }
        "hello" | "isMaster" | "ismaster" => Some(run::hello::again(&request, &reply.body)),
        _ => None,
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
