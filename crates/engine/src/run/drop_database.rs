//! `dropDatabase`.

use super::{Call, lookup};
use command::views::DropDatabase;
use command::{Reply, ReplyWriter};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    DropDatabase::parse(call.request)?;
    let mut reply = ReplyWriter::new();
    if call.engine.drop_database(call.common.database).await? {
        reply.append("dropped", call.common.database);
    }
    Ok(lookup::finish(call, reply))
}
