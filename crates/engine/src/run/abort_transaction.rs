//! `abortTransaction`.

use super::{Call, lookup};
use crate::session;
use command::views::EndTransaction;
use command::{Reply, ReplyWriter};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    EndTransaction::parse(call.request, "abortTransaction")?;
    session::abort(call.engine, call.common).await?;
    Ok(lookup::finish(call, ReplyWriter::new()))
}
