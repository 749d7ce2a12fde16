//! `killSessions`: end these sessions, whoever uses them.

use super::{Call, ok};
use crate::sessions;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    sessions::check(call.request, "killSessions", sessions::session)?;
    Ok(ok())
}
