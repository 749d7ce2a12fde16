//! `whatsmyuri`: the client's address as the server sees it.

use super::{Call, reply};
use bson::rawdoc;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    Ok(reply(rawdoc! { "you": call.session.client.address.to_string() }))
}
