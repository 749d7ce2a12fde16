//! `killAllSessions`: end the sessions of these users; of all, where none is named.

use super::{Call, ok};
use crate::sessions;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    sessions::check(call.request, "killAllSessions", sessions::user)?;
    Ok(ok())
}
