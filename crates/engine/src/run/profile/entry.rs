//! A document of `system.profile`.

use crate::run::{Call, current_op};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::{Command, Reply};
use error::Result;
use std::borrow::Cow;
use std::time::Duration;
use value::DocumentWriter;
use value::element::{array_len, get, get_value};

/// A longer command is cut, as in MongoDB.
pub const COMMAND_BYTES_MAX: usize = 50 * 1024;

/// Fields of replies and what the profile calls them.
const FIGURES: &[(&str, &str, &str)] = &[
    ("delete", "n", "ndeleted"),
    ("insert", "n", "ninserted"),
    ("update", "n", "nMatched"),
    ("update", "nModified", "nModified"),
];

pub fn document(
    call: Call<'_>,
    command: &Command,
    outcome: &Result<Reply>,
    took: Duration,
) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    out.append_str("op", current_op::kind(command.name));
    out.append_str("ns", &current_op::namespace(call.request));
    current_op::append_command(&mut out, &statement(call, command), COMMAND_BYTES_MAX);
    let plan = call.operation.plan.lock().clone();
    if let Some(plan) = &plan {
        out.append_number("keysExamined", plan.keys_examined as i64);
        out.append_number("docsExamined", plan.docs_examined as i64);
    }
    if let Ok(reply) = outcome {
        figures(command, &reply.body, &mut out);
    }
    out.append_number("numYield", 0);
    out.begin_document("locks");
    out.end();
    match outcome {
        Ok(reply) => out.append_i32("responseLength", reply.body.as_bytes().len() as i32),
        Err(error) => {
            out.append_str("errMsg", error.message());
            out.append_str("errName", &error.code().name());
            out.append_i32("errCode", error.code().number());
        }
    }
    out.append_str("protocol", "op_msg");
    out.append_i32("millis", i32::try_from(took.as_millis()).unwrap_or(i32::MAX));
    if let Some(plan) = &plan {
        out.append_str("planSummary", &plan.summary);
    }
    out.append("ts", RawBsonRef::DateTime(bson::DateTime::now()));
    out.append_str("client", &call.client.address.ip().to_string());
    if let Some(application) = &call.client.application {
        out.append_str("appName", application);
    }
    out.begin_array("allUsers");
    out.end();
    out.append_str("user", "");
    out.finish()
}

/// The command, or the one statement it consists of, with the command's comment.
fn statement<'a>(call: Call<'a>, command: &Command) -> Cow<'a, RawDocument> {
    let body = call.request.body();
    let statements = match command.name {
        "update" => call.request.documents("updates"),
        "delete" => call.request.documents("deletes"),
        _ => return Cow::Borrowed(body),
    };
    match (statements.as_deref(), get(body, "comment")) {
        (Ok([only]), None) => Cow::Borrowed(only),
        (Ok([only]), Some(comment)) => {
            let mut out = DocumentWriter::new();
            out.copy_all(only);
            out.copy(comment);
            Cow::Owned(out.finish())
        }
        _ => Cow::Borrowed(body),
    }
}

fn figures(command: &Command, reply: &RawDocument, out: &mut DocumentWriter) {
    for (of, field, name) in FIGURES {
        if *of == command.name
            && let Some(RawBsonRef::Int32(figure)) = get_value(reply, field)
        {
            out.append_number(name, figure.into());
        }
    }
    let Some(cursor) = get_value(reply, "cursor").and_then(|cursor| cursor.as_document()) else {
        return;
    };
    match get_value(cursor, "id") {
        Some(RawBsonRef::Int64(0)) => out.append_bool("cursorExhausted", true),
        Some(RawBsonRef::Int64(id)) => out.append_i64("cursorid", id),
        _ => {}
    }
    let batch = ["firstBatch", "nextBatch"].into_iter().find_map(|name| get_value(cursor, name));
    if let Some(RawBsonRef::Array(batch)) = batch {
        out.append_number("nreturned", array_len(batch) as i64);
    }
}
