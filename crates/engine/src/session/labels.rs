//! Labels that tell drivers what to do about an error.

use command::{Command, Common};
use error::{Code, Error};

const TRANSIENT: &str = "TransientTransactionError";
const RETRYABLE: &str = "RetryableWriteError";

/// Errors after which a whole transaction may be tried again.
const TRANSIENT_CODES: &[Code] = &[
    Code::LockTimeout,
    Code::WriteConflict,
    Code::SnapshotTooOld,
    Code::SnapshotUnavailable,
    Code::NoSuchTransaction,
    Code::TemporarilyUnavailable,
];

/// Errors of the server's own state: what failed with them may be sent again.
const RETRYABLE_CODES: &[Code] = &[
    Code::NetworkTimeout,
    Code::ShutdownInProgress,
    Code::ExceededTimeLimit,
    Code::InterruptedAtShutdown,
];

/// Whether a statement's error asks for the whole transaction to be tried again.
pub fn is_transient(code: Code) -> bool {
    TRANSIENT_CODES.contains(&code) || RETRYABLE_CODES.contains(&code)
}

/// The error of a command with the labels that MongoDB gives it.
pub fn labelled(error: Error, common: &Common<'_>, command: &Command) -> Error {
    let code = error.code();
    let ends = matches!(command.name, "commitTransaction" | "abortTransaction");
    if common.in_transaction() && !ends {
        return if is_transient(code) { error.label(TRANSIENT) } else { error };
    }
    if ends && TRANSIENT_CODES.contains(&code) {
        return error.label(TRANSIENT);
    }
    let retryable = ends || (command.retryable && common.txn_number.is_some());
    if retryable && RETRYABLE_CODES.contains(&code) { error.label(RETRYABLE) } else { error }
}
