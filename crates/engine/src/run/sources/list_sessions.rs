//! `$listSessions` and `$listLocalSessions`, which on one server are the same.

use crate::run::Call;
use bson::{Binary, DateTime, Uuid, rawdoc};
use error::Result;
use language::aggregate::Documents;

/// There may be very many, so each document is made when it is asked for.
pub fn documents(call: Call<'_>) -> Result<Documents> {
    let now = DateTime::now().timestamp_millis();
    let sessions = call.engine.sessions.list()?.into_iter();
    Ok(Box::new(sessions.map(move |(id, idle_seconds)| {
        language::interrupt::check()?;
        let last_use = DateTime::from_millis(now - i64::from(idle_seconds) * 1_000);
        let id = Binary::from(Uuid::from_bytes(id));
        Ok(rawdoc! { "_id": { "id": id }, "lastUse": last_use })
    })))
}
