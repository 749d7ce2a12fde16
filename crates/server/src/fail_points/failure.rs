//! What a fail point does to a command.

use super::{BEFORE_COMMIT, Target, WRITE_CONCERN_ERROR, flag, flag_or, number, strings};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::labels::{self, stream_labelled};
use command::{Reply, Request};
use error::{Code, Error};
use std::time::Duration;
use value::DocumentWriter;
use value::element::get;

/// What a command meets instead of being run, in this order.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    /// The connection is held up for so long.
    pub block: Option<Duration>,
    /// The command's cursor goes.
    pub kills_cursor: bool,
    /// The connection is closed.
    pub close: bool,
    /// The reply. Without one, and where the connection stays, the command runs.
    pub reply: Option<Reply>,
}

impl Failure {
    /// `failCommand`.
    pub(super) fn command(data: &RawDocument, target: &Target<'_>) -> Failure {
        let block = flag(data, "blockConnection").then(|| {
            let time = number(data, "blockTimeMS").and_then(|ms| u64::try_from(ms).ok());
            Duration::from_millis(time.unwrap_or(0))
        });
        let reply = code(data, "errorCode").map(|code| {
            let error = code.error("Failing command via 'failCommand' failpoint");
            let error = labels::labelled(error, target.common, target.command);
            failed(&error, strings(data, "errorLabels"), data)
        });
        Failure { block, close: flag(data, "closeConnection"), reply, kills_cursor: false }
    }

    /// `failGetMoreAfterCursorCheckout`: the cursor is lost, and if it is a change stream,
    /// drivers look at the label.
    pub(super) fn get_more(data: &RawDocument) -> Failure {
        let code = code(data, "errorCode").unwrap_or(Code::InternalError);
        let error = code.error("Hit the 'failGetMoreAfterCursorCheckout' failpoint");
        let reply = failed(&stream_labelled(error), strings(data, "errorLabels"), data);
        let close = flag(data, "closeConnection");
        Failure { block: None, kills_cursor: true, close, reply: Some(reply) }
    }

    /// `onPrimaryTransactionalWrite`, before the commit.
    pub(super) fn write(data: &RawDocument, target: &Target<'_>) -> Failure {
        let code = code(data, BEFORE_COMMIT).unwrap_or(Code::InternalError);
        let error = code.error("Failing write due to failpoint. The write must not be reflected.");
        let error = labels::labelled(error, target.common, target.command);
        let reply = Some(failed(&error, None, data));
        Failure { close: flag_or(data, "closeConnection", true), reply, ..Failure::default() }
    }
}

fn code(data: &RawDocument, name: &str) -> Option<Code> {
    let number = number(data, name)?;
    Some(Code::location(i32::try_from(number).unwrap_or(Code::UnknownError.number())))
}

/// The reply of an error, with the labels that are given instead of its own.
fn failed(error: &Error, given: Option<Vec<&str>>, data: &RawDocument) -> Reply {
    let reply = command::error_reply(error);
    let extra = get(data, "errorExtraInfo").and_then(|extra| extra.as_document());
    if given.is_none() && extra.is_none() {
        return reply;
    }
    let mut writer = DocumentWriter::new();
    let kept = if given.is_some() { without_labels(&reply.body) } else { reply.body };
    append_labels(&mut writer, &given.unwrap_or_default());
    writer.copy_all(&kept);
    extra.into_iter().for_each(|extra| writer.copy_all(extra));
    Reply::new(writer.finish())
}

/// A reply with the point's error of write concern, and the label that it calls for.
pub(super) fn with_write_concern_error(
    reply: Reply,
    data: &RawDocument,
    target: &Target<'_>,
) -> Reply {
    let Some(error) = get(data, WRITE_CONCERN_ERROR) else { return reply };
    let code = error.as_document().and_then(|error| code(error, "code"));
    let label = code.and_then(|code| labels::of(code, target.common, target.command));
    let labels = strings(data, "errorLabels").unwrap_or_else(|| label.into_iter().collect());
    let mut writer = DocumentWriter::new();
    for field in value::elements(&reply.body) {
        if field.key == WRITE_CONCERN_ERROR {
            continue;
        }
        if field.key == "ok" {
            writer.copy_as(WRITE_CONCERN_ERROR, error);
            append_labels(&mut writer, &labels);
        }
        writer.copy(field);
    }
    Reply::new(writer.finish())
}

fn append_labels(writer: &mut DocumentWriter, labels: &[&str]) {
    if labels.is_empty() {
        return;
    }
    writer.begin_array("errorLabels");
    labels.iter().for_each(|label| writer.push(RawBsonRef::String(label)));
    writer.end();
}

fn without_labels(body: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    let kept = value::elements(body).filter(|field| field.key != "errorLabels");
    kept.for_each(|field| writer.copy(field));
    writer.finish()
}

/// The command that closes the cursor of a `getMore`.
pub(crate) fn kill_cursor(request: &Request) -> Request {
    let mut writer = DocumentWriter::new();
    let body = request.body();
    if let Some(collection) = get(body, "collection") {
        writer.copy_as("killCursors", collection);
    }
    if let Some(cursor) = value::elements(body).next() {
        writer.begin_array("cursors");
        writer.copy_next(cursor);
        writer.end();
    }
    for name in ["lsid", "$db"] {
        get(body, name).into_iter().for_each(|field| writer.copy(field));
    }
    Request::from(writer.finish())
}
