//! `isdbgrid`: yes, to clients this is a mongos, unless it is a replica set.

use super::{Call, reply};
use bson::rawdoc;
use command::Reply;
use command::refused::not_found;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    if call.shared.member.is_some() {
        return Err(not_found("isdbgrid"));
    }
    Ok(reply(rawdoc! { "isdbgrid": 1, "hostname": call.shared.host_and_port() }))
}
