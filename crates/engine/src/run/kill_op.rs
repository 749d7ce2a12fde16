//! `killOp`.

use super::Call;
use command::views::KillOp;
use command::{Reply, ReplyWriter};
use error::{Code, Result};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let kill = KillOp::parse(call.request)?;
    let id = i32::try_from(kill.operation)
        .map_err(|_| Code::location(26823).error(format!("invalid op : {}", kill.operation)))?;
    call.engine.operations.kill(id);
    let mut reply = ReplyWriter::new();
    reply.append("info", "attempting to kill op");
    Ok(reply.finish())
}
