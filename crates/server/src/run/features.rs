//! `features`: an old command that some tools still send.

use super::{Call, reply};
use bson::rawdoc;
use command::Reply;
use error::Result;

pub(super) fn run(_: &mut Call<'_>) -> Result<Reply> {
    Ok(reply(rawdoc! { "oidMachine": 0, "readOnly": false }))
}
