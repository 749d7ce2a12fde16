//! `delete`.

use super::{Call, writing};
use command::Reply;
use command::views::Delete;
use error::Result;
use write::statement;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let delete = Delete::parse(call.request)?;
    let writes = call.writes();
    let reply = statement::delete(&writes, &delete).await?;
    writing::finish(call, &writes, reply).await
}
