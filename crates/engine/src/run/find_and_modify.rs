//! `findAndModify`.

use super::{Call, writing};
use command::Reply;
use command::views::FindAndModify;
use error::Result;
use value::DocumentWriter;
use write::statement::{self, Modified};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let modify = FindAndModify::parse(call.request)?;
    let writes = call.writes();
    let Modified { answer, retried } = statement::find_and_modify(&writes, &modify).await?;
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    let mut writer = DocumentWriter::resume(answer);
    if let Some(statement) = retried {
        writer.append_i32("retriedStmtId", statement);
    }
    if let Some(error) = writing::concern_error(call) {
        command::append_write_concern_error(&mut writer, &error);
    }
    writer.append_f64("ok", 1.0);
    Ok(Reply::new(writer.finish()))
}
