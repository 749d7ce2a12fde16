//! `isdbgrid`: yes, to clients this is a mongos.

use super::{Call, reply};
use bson::rawdoc;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    Ok(reply(rawdoc! { "isdbgrid": 1, "hostname": call.shared.host_and_port() }))
}
