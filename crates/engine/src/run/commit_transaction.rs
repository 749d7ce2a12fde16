//! `commitTransaction`. Committing again what is committed is no error: a client
//! that lost the answer asks once more.

use super::{Call, lookup};
use crate::{operation, session};
use command::views::EndTransaction;
use command::{Reply, ReplyWriter};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    EndTransaction::parse(call.request, "commitTransaction")?;
    let ticket = session::commit(call.engine, call.common).await?;
    let mark = crate::writes::mark(call.common.write_concern.as_ref());
    session::acknowledge(call.engine, ticket, mark).await?;
    if let Some(ticket) = ticket {
        operation::note_commit_of(call.engine, call.client, ticket);
    }
    Ok(lookup::finish(call, ReplyWriter::new()))
}
