//! `dropDatabase`.

use super::{Call, lookup};
use command::views::DropDatabase;
use command::{Reply, ReplyWriter};
use error::{Code, Result};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    DropDatabase::parse(call.request)?;
    if call.common.database == "admin" {
        return Err(Code::IllegalOperation.error("Dropping the 'admin' database is prohibited."));
    }
    let mut reply = ReplyWriter::new();
    if call.engine.drop_database(call.common.database).await? {
        call.engine.profiles.forget(call.common.database);
        reply.append("dropped", call.common.database);
    }
    Ok(lookup::finish(call, reply))
}
