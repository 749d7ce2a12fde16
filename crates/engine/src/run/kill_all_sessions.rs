//! `killAllSessions`: end the sessions of these users; of all, where none is named.

use super::Call;
use command::Reply;
use command::views::sessions;
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let users = sessions::list(call.request, "killAllSessions", sessions::user)?;
    // No session belongs to a user: there are none.
    if users.is_empty() {
        call.engine.kill_sessions(None);
    }
    Ok(Reply::ok())
}
