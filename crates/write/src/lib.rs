//! The statements of writes, the one write loop beneath them, and the transaction it works
//! through.
//!
//! `statement` has what clients send: insert, update, delete, findAndModify, bulkWrite. All of
//! them, and everything else that writes, come to the loop: for each document, in a
//! transaction, the update is applied, the collection's patterns take part, the validator
//! runs, and the record of a retryable statement commits with it. Nothing here knows an
//! engine: documents are reached only through `Backend` and `Transaction`.

mod backend;
mod delete;
pub mod document;
mod guard;
mod insert;
pub mod limits;
mod prepared;
mod retry;
mod shown;
mod snapshot;
pub mod statement;
mod transaction;
mod update;
mod version;

pub use backend::{Backend, Candidates, Cause, Find, Selection, Transaction, Transactions, Wanted};
pub use delete::{Delete, Deleted, delete, delete_in};
pub use guard::{Applied, FastInsert, Guard, GuardOf, Inserted, NoteOf, Outcome};
pub use insert::{Insert, check_size, insert, insert_in};
pub use prepared::update_in;
pub use retry::{Retry, RetryRecord, RetryUpdate};
pub use shown::{ShownChange, ShownDocument, Watched};
pub use snapshot::{Outline, Snapshot, Visit};
pub use transaction::{TransactionBody, attempt, in_transaction};
pub use update::{Returns, Touched, UpdateRequest, Updated, update};
pub use version::{Sidecar, StoredRow, Version};
