//! `$listSessions` and `$listLocalSessions`, which on one server are the same.

use crate::run::Call;
use bson::{Binary, DateTime, RawDocumentBuf, Uuid, rawdoc};

pub fn documents(call: Call<'_>) -> Vec<RawDocumentBuf> {
    let now = DateTime::now().timestamp_millis();
    let sessions = call.engine.sessions.list().into_iter();
    sessions
        .map(|(id, idle_seconds)| {
            let last_use = DateTime::from_millis(now - i64::from(idle_seconds) * 1_000);
            let id = Binary::from(Uuid::from_bytes(id));
            rawdoc! { "_id": { "id": id }, "lastUse": last_use }
        })
        .collect()
}
