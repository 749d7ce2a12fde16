//! `refreshSessions`: the client still uses these sessions.

use super::{Call, ok};
use crate::sessions;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    sessions::check(call.request, "refreshSessions", sessions::session)?;
    Ok(ok())
}
