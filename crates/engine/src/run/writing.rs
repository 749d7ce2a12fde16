//! What write commands have in common: how they are acknowledged.

use super::Call;
use crate::writes::Writes;
use command::common::{Acknowledgement, ReadLevel};
use command::{Reply, WriteReply, write_concern_error};
use error::{Code, Error, Result};
use language::aggregate::Pipeline;

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

/// A failed command says, too, that its write concern could not be satisfied, unless its
/// arguments could not even be read.
pub fn with_concern_error(call: Call<'_>, error: Error) -> Error {
    let unread = [Code::IDLDuplicateField, Code::IDLFailedToParse, Code::IDLUnknownField];
    match concern_error(call).filter(|_| !unread.contains(&error.code())) {
        Some(concern) => error.detail("writeConcernError", write_concern_error(&concern)),
        None => error,
    }
}

/// Refuses stages that a transaction, or the read concern, does not allow.
pub fn check_pipeline(call: Call<'_>, pipeline: &Pipeline) -> Result<()> {
    let level = call.common.read_concern.as_ref().map(|concern| concern.level);
    if level == Some(ReadLevel::Linearizable)
        && let Some(target) = pipeline.target()
    {
        return Err(Code::InvalidOptions.error(format!(
            "{} cannot be used with a 'linearizable' read concern level",
            target.stage_name()
        )));
    }
    if level.is_some_and(|level| level != ReadLevel::Local)
        && let Some(source) = pipeline.source().filter(|source| source.is_of_the_server())
    {
        return Err(Code::InvalidOptions.error(format!(
            "Aggregation stage {} cannot run with a readConcern other than 'local'",
            source.name
        )));
    }
    if call.statement().is_none() {
        return Ok(());
    }
    let name = match (pipeline.target(), pipeline.source()) {
        (Some(target), _) => target.stage_name(),
        (None, Some(source)) if source.name != "$documents" => source.name,
        _ => return Ok(()),
    };
    Err(Code::OperationNotSupportedInTransaction.error(format!(
        "Operation not permitted in transaction :: caused by :: Aggregation stage {name} cannot \
         run within a multi-document transaction"
    )))
}
