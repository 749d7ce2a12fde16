//! `update`.

use super::{Call, writing};
use command::Reply;
use command::views::Update;
use error::Result;
use write::statement;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let update = Update::parse(call.request)?;
    let writes = call.writes();
    let reply = statement::update(&writes, &update).await?;
    let reply = writing::finish(call, &writes, reply).await?;
    statement::check_stages(&update)?;
    Ok(reply)
}
