//! Work on whole collections and stores: export, import, backup, migration, verification,
//! made-up data.
//!
//! A job speaks MongoDB's commands through the official driver and never touches
//! storage, so it works on any server (`backup` asks Freeboard for a copy). It shows
//! its progress and ends cleanly on Ctrl-C.

mod backup;
mod connect;
mod definition;
mod demo;
mod error;
mod export;
pub mod extjson;
mod format;
mod import;
mod long;
mod migrate;
mod output;
mod overflow;
pub mod policy;
pub mod progress;
mod record;
mod sink;
mod source;
mod stop;
mod undo;
mod verify;

pub use backup::{Backup, Copied};
pub use connect::{client, options, reach};
pub use definition::{Made, metadata_path};
pub use demo::{Demo, Existing, Loaded};
pub use error::{Error, explain};
pub use export::{Export, Exported};
pub use format::Format;
pub use import::{ExistingDocument, Failure, FilePolicy, Import, Imported};
pub use migrate::{End, Migrate, Migrated, Moved, Pace};
pub use stop::interrupt;
pub use undo::{Restored, Undo, Undone};
pub use verify::{Verified, Verify};

use bson::Document;
use std::future::Future;

/// A document may weigh so much, as everywhere in MongoDB.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Runs a job on threads of its own.
pub fn run<T>(job: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(job);
    // A reader may wait for a terminal that says nothing.
    runtime.shutdown_background();
    outcome
}

/// A job that is dropped on Ctrl-C.
async fn interruptible<T>(job: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::select! {
        outcome = job => outcome,
        _ = tokio::signal::ctrl_c() => Err(Error::Interrupted),
    }
}

/// A count in a reply, of whichever type.
pub fn number(document: &Document, name: &str) -> u64 {
    let number = document.get_i64(name).or_else(|_| document.get_i32(name).map(i64::from));
    u64::try_from(number.unwrap_or_default()).unwrap_or_default()
}
