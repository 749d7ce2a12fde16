//! `killAllSessionsByPattern`: end the sessions that fit one of these patterns; all,
//! where there is no pattern.

use super::Call;
use command::Reply;
use command::views::sessions::{self, Pattern};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let patterns = sessions::list(call.request, "killAllSessionsByPattern", sessions::pattern)?;
    if patterns.is_empty() || patterns.contains(&Pattern::All) {
        call.engine.kill_sessions(None);
        return Ok(Reply::ok());
    }
    let ids = patterns
        .iter()
        .filter_map(|pattern| match pattern {
            Pattern::Session(id) => Some(*id),
            // No session belongs to a user: there are none.
            Pattern::All | Pattern::User => None,
        })
        .collect();
    turn::aside(|| call.engine.kill_sessions(Some(&ids)));
    Ok(Reply::ok())
}
