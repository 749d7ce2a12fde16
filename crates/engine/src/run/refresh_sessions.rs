//! `refreshSessions`: the client still uses these sessions.

use super::Call;
use command::Reply;
use command::views::sessions;
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let ids = sessions::list(call.request, "refreshSessions", sessions::session)?;
    ids.into_iter().try_for_each(|id| call.engine.sessions.touch(id))?;
    Ok(Reply::ok())
}
