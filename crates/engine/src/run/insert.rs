//! `insert`.

use super::writes::Writes;
use super::{Call, writing};
use command::Reply;
use command::views::Insert;
use error::Result;
use write::statement;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let insert = Insert::parse(call.request)?;
    let writes = Writes::of(call);
    let reply = statement::insert(&writes, &insert).await?;
    writing::finish(call, &writes, reply).await
}
