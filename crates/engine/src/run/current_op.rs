//! `currentOp`, and the operations that `$currentOp` lists too.

mod idle_cursor;
mod transaction;

use super::Call;
use super::context::context;
use crate::operation::Operation;
use crate::session::OpenTransaction;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::views::CurrentOp;
use command::{Client, Reply, ReplyWriter, Request};
use error::Result;
use language::query::Filter;
use std::sync::atomic::Ordering;
use value::element::get_value;
use value::{DocumentWriter, elements};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = CurrentOp::parse(call.request)?;
    let filter = Filter::parse(&asked.filter, &context(None, None, None)?)?;
    let mut reply = ReplyWriter::new();
    let out = reply.writer();
    out.begin_array("inprog");
    for operation in operations(
        call,
        ListedOperation { sessions: true, cursors: false, command_bytes_max: COMMAND_BYTES },
    ) {
        if filter.matches(&operation)? {
            out.push(RawBsonRef::Document(&operation));
        }
    }
    out.end();
    Ok(reply.finish())
}

/// What of a command `currentOp` shows, and `$currentOp` if it is to truncate,
pub const COMMAND_BYTES: usize = 1024;
/// and what it shows otherwise.
pub const WHOLE_COMMAND_BYTES: usize = 64 * 1024;

/// What to list beside operations under way, and how much of them.
#[derive(Debug, Clone, Copy)]
pub struct ListedOperation {
    /// Open transactions that wait for their next statement,
    pub sessions: bool,
    /// and cursors that wait for their next `getMore`.
    pub cursors: bool,
    pub command_bytes_max: usize,
}

/// Everything under way, this command included, and what is idle as far as it is wanted.
pub fn operations(call: Call<'_>, listed: ListedOperation) -> Vec<RawDocumentBuf> {
    let host = call.engine.identity().host_and_port();
    let transactions = call.engine.sessions.open_list();
    let running = call.engine.operations.list();
    let waiting = transactions.iter().filter(|transaction| listed.sessions && transaction.idle);
    let cursors = if listed.cursors { call.engine.cursors.idle() } else { Vec::new() };
    running
        .iter()
        .map(|operation| describe(operation, &host, &transactions, listed.command_bytes_max))
        .chain(waiting.map(|transaction| transaction::idle(transaction, &host)))
        .chain(cursors.iter().map(|cursor| idle_cursor::describe(cursor, &host)))
        .collect()
}

fn describe_client(out: &mut DocumentWriter, client: &Client) {
    out.append_i64("connectionId", client.connection_id.into());
    out.append_str("client", &client.address.to_string());
    if let Some(application) = &client.application {
        out.append_str("appName", application);
    }
    if let Some(metadata) = &client.metadata {
        out.append_document("clientMetadata", metadata);
    }
}

fn describe(
    operation: &Operation,
    host: &str,
    transactions: &[OpenTransaction],
    command_bytes_max: usize,
) -> RawDocumentBuf {
    let took = operation.started.elapsed();
    let mut out = DocumentWriter::new();
    out.append_str("type", "op");
    out.append_str("host", host);
    out.append_str("desc", &format!("conn{}", operation.client.connection_id));
    describe_client(&mut out, &operation.client);
    out.append_bool("active", true);
    if let Ok(now) = bson::DateTime::now().try_to_rfc3339_string() {
        out.append_str("currentOpTime", &now);
    }
    out.append_bool("threaded", true);
    out.append_i32("opid", operation.id);
    if let Some(session) = get_value(operation.request.body(), "lsid") {
        out.append("lsid", session);
    }
    if let Some(found) = transaction::of(operation.request.body(), transactions) {
        transaction::describe(&mut out, found);
    }
    out.append_i64("secs_running", took.as_secs() as i64);
    out.append_i64("microsecs_running", took.as_micros() as i64);
    out.append_str("op", kind(operation.request.name()));
    out.append_str("ns", &namespace(&operation.request));
    out.append_bool("redacted", false);
    append_command(&mut out, operation.request.body(), command_bytes_max);
    if let Some(progress) = operation.progress.get() {
        let (done, total) =
            (progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
        let msg = match progress.what {
            Some(what) => format!("{what}: {done}/{total}"),
            None => format!("Index Build: scanning collection Index Build: {done}/{total}"),
        };
        out.append_str("msg", &msg);
        out.begin_document("progress");
        out.append_i64("done", done as i64);
        out.append_i64("total", total as i64);
        out.end();
    }
    out.append_number("numYields", 0);
    for name in ["locks", "lockStats", "flowControlStats"] {
        out.begin_document(name);
        out.end();
        match name {
            "locks" => {
                let is_held_up = operation.is_held_up.load(Ordering::Relaxed);
                out.append_bool("waitingForLock", is_held_up);
            }
            "lockStats" => out.append_bool("waitingForFlowControl", false),
            _ => {}
        }
    }
    out.finish()
}

/// A command, cut where it is long: with many large ones under way the list would take more
/// memory than all of them, and in the profile each would take the place of many others.
pub fn append_command(out: &mut DocumentWriter, command: &RawDocument, bytes_max: usize) {
    if command.as_bytes().len() <= bytes_max {
        return out.append_document("command", command);
    }
    out.begin_document("command");
    out.append_str("$truncated", &value::text::clipped(command, bytes_max));
    let comment = value::element::get(command, "comment");
    if let Some(comment) = comment.filter(|comment| comment.bytes.len() <= bytes_max) {
        out.append("comment", comment.value());
    }
    out.end();
}

/// What `op` calls a command.
pub fn kind(command: &str) -> &'static str {
    match command {
        "find" => "query",
        "getMore" => "getmore",
        "insert" => "insert",
        "update" => "update",
        "delete" => "remove",
        _ => "command",
    }
}

/// The namespace that a command is about.
pub fn namespace(request: &Request) -> String {
    let database = request.database();
    let first = elements(request.body()).next();
    let of_collection = command::command(request.name()).is_some_and(|row| row.collection);
    let collection = match request.name() {
        "getMore" => get_value(request.body(), "collection").and_then(|it| it.as_str()),
        _ => first.filter(|_| of_collection).and_then(|first| first.value().as_str()),
    };
    match collection {
        Some(collection) => format!("{database}.{collection}"),
        None if request.name() == "aggregate" => format!("{database}.$cmd.aggregate"),
        None => format!("{database}.$cmd"),
    }
}

/// `$currentOp` gives the same documents.
pub fn check_stage(database: &str, collectionless: bool) -> Result<()> {
    if database != "admin" || !collectionless {
        return Err(error::Code::InvalidNamespace
            .error("$currentOp must be run against the 'admin' database with {aggregate: 1}"));
    }
    Ok(())
}
