//! What clients send: insert, update, delete, findAndModify, bulkWrite.

mod bulk_write;
mod context;
mod delete;
mod find_and_modify;
mod insert;
mod update;

pub use bulk_write::{Bulk, Totals, bulk_write};
pub use delete::delete;
pub use find_and_modify::{Modified, find_and_modify};
pub use insert::insert;
pub use update::{check_stages, multi_replacement, parse_update, update};

use crate::Backend;
use bson::{RawDocument, RawDocumentBuf};
use command::{Failures, Namespace};
use error::{Error, Result};
use std::sync::Arc;
use value::Collator;

/// The command that statements are part of, beside what the write loop needs of a backend.
pub trait Statements: Backend {
    /// Refuses to write where clients may not: views, what belongs to the system.
    fn check_target(&self, namespace: &Namespace) -> Result<()>;

    /// How a collection compares strings, for statements that do not say.
    fn collator(&self, namespace: &Namespace) -> Result<Option<Arc<Collator>>>;

    /// What is left to project in documents that the collection's guard has shown under a
    /// projection; `None` if that is all of it.
    fn projection(&self, namespace: &Namespace, fields: &RawDocument) -> Option<RawDocumentBuf>;

    /// Whether statements are recorded, to be answered from the record if they come again.
    fn is_retryable(&self) -> bool;

    /// What a statement answered when it was carried out before.
    fn recorded(&self, number: i32) -> Result<Option<RawDocumentBuf>>;

    /// Says whose failure an error is: one statement's, or (`Err`) the whole command's.
    fn of_statement(&self, error: Error) -> Result<Error>;
}

/// Adds a statement's failure to those of the command, and says whether the next
/// statement has its turn. In a transaction the first failure ends all.
fn goes_on<B: Statements>(
    backend: &B,
    failures: &mut Failures,
    index: usize,
    error: Error,
    ordered: bool,
) -> Result<bool> {
    let error = backend.of_statement(error)?;
    failures.add(index, &error);
    Ok(!ordered && !backend.is_clients())
}
