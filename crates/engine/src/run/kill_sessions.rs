//! `killSessions`: end these sessions, whoever uses them; all, where none is named.

use super::Call;
use command::Reply;
use command::views::sessions;
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let ids = sessions::list(call.request, "killSessions", sessions::session)?;
    call.engine.kill_sessions(Some(ids.as_slice()).filter(|ids| !ids.is_empty()));
    Ok(Reply::ok())
}
