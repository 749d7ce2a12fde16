//! `insert`.

use super::{Call, writing};
use command::Reply;
use command::views::Insert;
use error::Result;
use write::statement;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let insert = Insert::parse(call.request)?;
    let writes = call.writes();
    let reply = statement::insert(&writes, &insert).await?;
    writing::finish(call, &writes, reply).await
}
