//! Where writes may go, and which failures are one statement's.

use crate::catalog::{Catalog, Collection};
use crate::session::Statement;
use command::Namespace;
use error::{Code, Error, Result};

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
