//! `startSession`: a new logical session.

use super::Call;
use bson::{RawBsonRef, Uuid};
use command::fields::Fields;
use command::{Reply, ReplyWriter, SESSION_TIMEOUT_MINUTES};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let mut fields = Fields::of_command(call.request, "startSession")?;
    if let Some(field) = fields.next()? {
        return Err(field.unknown());
    }
    let id = Uuid::new();
    call.engine.sessions.touch(id.bytes())?;
    let binary = bson::Binary::from(id);
    let mut reply = ReplyWriter::new();
    let writer = reply.writer();
    writer.begin_document("id");
    writer.append(
        "id",
        RawBsonRef::Binary(bson::RawBinaryRef { subtype: binary.subtype, bytes: &binary.bytes }),
    );
    writer.end();
    reply.append("timeoutMinutes", SESSION_TIMEOUT_MINUTES);
    Ok(reply.finish())
}
