//! `endSessions`: the client needs these sessions no more.

use super::Call;
use command::Reply;
use command::views::sessions;
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let ids = sessions::list(call.request, "endSessions", sessions::session)?;
    turn::aside(|| call.engine.end_sessions(&ids.into_iter().collect()));
    Ok(Reply::ok())
}
