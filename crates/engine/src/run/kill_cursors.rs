//! `killCursors`.

use super::Call;
use bson::RawBsonRef;
use command::views::KillCursors;
use command::{Reply, ReplyWriter};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let kill = KillCursors::parse(call.request)?;
    let (killed, unknown): (Vec<i64>, Vec<i64>) =
        kill.cursors.iter().partition(|id| call.engine.cursors.kill(**id, &kill.namespace));
    let mut reply = ReplyWriter::new();
    for (name, ids) in [
        ("cursorsKilled", killed),
        ("cursorsNotFound", unknown),
        ("cursorsAlive", Vec::new()),
        ("cursorsUnknown", Vec::new()),
    ] {
        let writer = reply.writer();
        writer.begin_array(name);
        ids.into_iter().for_each(|id| writer.push(RawBsonRef::Int64(id)));
        writer.end();
    }
    Ok(reply.finish())
}
