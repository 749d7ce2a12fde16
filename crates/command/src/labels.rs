//! Labels that say to drivers what to do about an error.

use crate::{Command, Common};
use error::{Code, Error};

pub const TRANSIENT: &str = "TransientTransactionError";
pub const RETRYABLE: &str = "RetryableWriteError";
pub const RESUMABLE: &str = "ResumableChangeStreamError";
const NOT_RESUMABLE: &str = "NonResumableChangeStreamError";

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
    Code::HostUnreachable,
    Code::HostNotFound,
    Code::NetworkTimeout,
    Code::ShutdownInProgress,
    Code::ReadConcernMajorityNotAvailableYet,
    Code::PrimarySteppedDown,
    Code::ExceededTimeLimit,
    Code::SocketException,
    Code::NotWritablePrimary,
    Code::InterruptedAtShutdown,
    Code::InterruptedDueToReplStateChange,
    Code::NotPrimaryNoSecondaryOk,
    Code::NotPrimaryOrSecondary,
];

/// Further errors after which a change stream goes on from its last token.
const RESUMABLE_CODES: &[Code] = &[
    Code::StaleShardVersion,
    Code::FailedToSatisfyReadPreference,
    Code::StaleEpoch,
    Code::RetryChangeStream,
    Code::StaleConfig,
];

/// Whether a statement's error asks for the whole transaction to be tried again.
pub fn is_transient(code: Code) -> bool {
    TRANSIENT_CODES.contains(&code) || RETRYABLE_CODES.contains(&code)
}

/// The label of a command's error, or of its error of write concern.
pub fn of(code: Code, common: &Common<'_>, command: &Command) -> Option<&'static str> {
    let ends = matches!(command.name, "commitTransaction" | "abortTransaction");
    if common.in_transaction() && !ends {
        return is_transient(code).then_some(TRANSIENT);
    }
    if ends && TRANSIENT_CODES.contains(&code) {
        return Some(TRANSIENT);
    }
    let retryable = ends || (command.retryable && common.txn_number.is_some());
    (retryable && RETRYABLE_CODES.contains(&code)).then_some(RETRYABLE)
}

/// The error of a command with the label that MongoDB gives it.
pub fn labelled(error: Error, common: &Common<'_>, command: &Command) -> Error {
    match of(error.code(), common, command) {
        Some(label) => error.label(label),
        None => error,
    }
}

/// An error as a change stream reports it: with what a client is to make of it.
pub fn stream_labelled(error: Error) -> Error {
    let code = error.code();
    if [Code::ChangeStreamFatalError, Code::ChangeStreamHistoryLost].contains(&code) {
        error.label(NOT_RESUMABLE)
    } else if RESUMABLE_CODES.contains(&code) || RETRYABLE_CODES.contains(&code) {
        error.label(RESUMABLE)
    } else {
        error
    }
}
