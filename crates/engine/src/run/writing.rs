//! What writes have in common: where they may go, how they are acknowledged.

use super::Call;
use super::writes::Writes;
use crate::catalog::{Catalog, Collection};
use crate::session::Statement;
use command::common::{Acknowledgement, ReadLevel};
use command::{Namespace, Reply, WriteReply, write_concern_error};
use error::{Code, Error, Result};
use language::aggregate::Pipeline;

/// Errors that say that the command was stopped.
const INTERRUPTIONS: &[Code] = &[
    Code::MaxTimeMSExpired,
    Code::ExceededTimeLimit,
    Code::TransactionExceededLifetimeLimitSeconds,
    Code::InterruptedAtShutdown,
    Code::Interrupted,
];

/// Refuses writes to views and to what belongs to the system.
pub fn check_target(catalog: &Catalog, namespace: &Namespace, is_clients: bool) -> Result<()> {
    let collection = catalog.get(namespace);
    if collection.is_some_and(|collection| collection.is_view()) {
        return Err(Code::CommandNotSupportedOnView
            .error(format!("Namespace {namespace} is a view, not a collection")));
    }
    if is_clients {
        check_in_transaction(namespace, collection.map(|collection| &**collection))?;
    }
    namespace.check_write()
}

fn check_in_transaction(namespace: &Namespace, collection: Option<&Collection>) -> Result<()> {
    if matches!(&*namespace.database, "admin" | "config" | "local") {
        return Err(Code::OperationNotSupportedInTransaction.error(format!(
            "Cannot run command against the '{}' database in a transaction.",
            namespace.database
        )));
    }
    if collection.is_some_and(Collection::is_capped) {
        return Err(Code::OperationNotSupportedInTransaction.error(format!(
            "Collection '{namespace}' is a capped collection. Writes in transactions are not \
             allowed on capped collections."
        )));
    }
    Ok(())
}

/// A failure that is one statement's: others fail the whole command.
pub fn of_statement(client: Option<&Statement>, error: Error) -> Result<Error> {
    if INTERRUPTIONS.contains(&error.code()) {
        return Err(error);
    }
    if let Some(statement) = client {
        if command::labels::is_transient(error.code()) {
            return Err(error);
        }
        statement.fail();
    }
    Ok(error)
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
