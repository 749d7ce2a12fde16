//! `killSessions`: end these sessions, whoever uses them; all, where none is named.

use super::Call;
use command::Reply;
use command::views::sessions;
use error::Result;
use rustc_hash::FxHashSet;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let ids = sessions::list(call.request, "killSessions", sessions::session)?;
    let ids: FxHashSet<_> = ids.into_iter().collect();
    turn::aside(|| call.engine.kill_sessions(Some(&ids).filter(|ids| !ids.is_empty())));
    Ok(Reply::ok())
}
