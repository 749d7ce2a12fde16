//! `endSessions`: the client needs these sessions no more.

use super::{Call, ok};
use crate::sessions;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    sessions::check(call.request, "endSessions", sessions::session)?;
    Ok(ok())
}
