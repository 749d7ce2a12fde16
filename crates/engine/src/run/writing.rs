//! What writes have in common: where they may go, how they are acknowledged.

use super::Call;
use super::writes::Writes;
use command::common::Acknowledgement;
use command::{Namespace, Reply, WriteReply};
use error::{Code, Error, Result};

/// Refuses writes to views and to what belongs to the system.
pub fn check_target(call: Call<'_>, namespace: &Namespace) -> Result<()> {
    if call.engine.registry.get(namespace).is_some_and(|collection| collection.is_view()) {
        return Err(Code::CommandNotSupportedOnView
            .error(format!("Namespace {namespace} is a view, not a collection")));
    }
    namespace.check_write()
}

/// Waits until the writes are as safe as asked, and replies.
pub async fn finish(call: Call<'_>, writes: &Writes, mut reply: WriteReply) -> Result<Reply> {
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    reply.write_concern_error = concern_error(call);
    Ok(reply.finish())
}

/// One node cannot satisfy more than one acknowledgement: the write is applied
/// and the reply says what is missing.
pub fn concern_error(call: Call<'_>) -> Option<Error> {
    let concern = call.common.write_concern.as_ref()?;
    match concern.w {
        Acknowledgement::Members(members) if members > 1 => {
            Some(Code::UnsatisfiableWriteConcern.error("Not enough data-bearing nodes"))
        }
        Acknowledgement::Tags(_) => {
            Some(Code::UnsatisfiableWriteConcern.error("No member has the tags asked for"))
        }
        Acknowledgement::Named(name) => Some(Code::UnknownReplWriteConcern.error(format!(
            "No write concern mode named '{name}' found in replica set configuration"
        ))),
        _ => None,
    }
}

/// Refuses what a multi-document transaction may not do.
pub fn check_transactionless(call: Call<'_>) -> Result<()> {
    if call.common.in_transaction() {
        return Err(Code::OperationNotSupportedInTransaction
            .error("$out and $merge cannot be used in a transaction"));
    }
    Ok(())
}
