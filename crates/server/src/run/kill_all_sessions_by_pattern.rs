//! `killAllSessionsByPattern`: end the sessions that fit one of these patterns.

use super::{Call, ok};
use crate::sessions;
use command::Reply;
use error::Result;

pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    sessions::check(call.request, "killAllSessionsByPattern", sessions::pattern)?;
    Ok(ok())
}
