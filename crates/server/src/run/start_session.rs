//! `startSession`: a new logical session. Sessions exist by being used, so only
//! an id is made.

use super::{Call, reply};
use crate::limits::SESSION_TIMEOUT_MINUTES;
use bson::spec::BinarySubtype;
use bson::{Binary, Uuid, rawdoc};
use command::Reply;
use command::fields::Fields;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let mut fields = Fields::of_command(call.request, "startSession")?;
    if let Some(field) = fields.next()? {
        return Err(field.unknown());
    }
    let id = Binary { subtype: BinarySubtype::Uuid, bytes: Uuid::new().bytes().to_vec() };
    Ok(reply(rawdoc! { "id": { "id": id }, "timeoutMinutes": SESSION_TIMEOUT_MINUTES }))
}
