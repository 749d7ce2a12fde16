//! `fsync`.

use super::Call;
use crate::storage::Mark;
use command::views::Fsync;
use command::{Reply, ReplyWriter};
use error::{Code, Result};

/// Everything acknowledged is synced but what was written with `j: false`.
pub async fn run(call: Call<'_>) -> Result<Reply> {
    let asked = Fsync::parse(call.request)?;
    if asked.lock {
        return Err(Code::CommandNotSupported.error(
            "fsync with 'lock' is not supported, as the server is never locked; copy the store \
             with freeboard backup, which needs no lock",
        ));
    }
    call.engine.store.reach(call.engine.store.newest(), Mark::Synced).await?;
    let mut reply = ReplyWriter::new();
    reply.append("numFiles", 1);
    Ok(reply.finish())
}
