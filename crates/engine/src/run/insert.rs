//! `insert`.

use super::writes::Writes;
use super::{Call, writing};
use command::views::Insert;
use command::{Reply, WriteFailure, WriteReply};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let insert = Insert::parse(call.request)?;
    writing::check_target(call, &insert.namespace)?;
    let writes = Writes::of(call);
    let mut errors = Vec::new();
    let inserted = write::insert(
        &writes,
        &insert.namespace,
        &insert.documents,
        insert.options.ordered,
        insert.options.bypass_validation,
        &mut errors,
    )
    .await?;
    let failures = errors
        .into_iter()
        .map(|failed| WriteFailure { index: failed.index as i32, error: failed.error })
        .collect();
    let reply = WriteReply { n: inserted as i32, failures, ..WriteReply::default() };
    writing::finish(call, &writes, reply).await
}
