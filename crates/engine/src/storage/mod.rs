//! Storage: records, index entries and the catalog's rows in a few ordered
//! trees; one committer; views; large values out of line.

pub mod clock;
mod commit;
mod copy;
mod deferred;
mod disk;
mod document;
pub mod entry;
mod id;
pub mod keys;
pub mod large;
pub mod layered;
pub mod log;
mod overlay;
pub(crate) mod private;
mod space;
mod store;
pub mod trees;
mod view;

pub use clock::Clock;
pub use commit::{
    AfterApply, BookEntry, Bookkeeper, Commit, CommitFigures, CommitProgress, CommitWrites, Ledger,
    Mark, NoBooks, Ticket, Witness,
};
pub use deferred::{CHANGES_AT_ONCE_MAX, Staged};
pub use disk::{Recovery, Stop};
pub use document::Document;
pub use entry::{Entries, Entry};
pub use id::{CollectionId, IndexId, RecordId, SessionId};
pub use log::{Events, Log, LogChange, Position, Silent};
pub use overlay::Overlay;
pub use space::{RESERVE_BYTES, Space};
pub use store::{OpenError, Store, Synced};
pub use trees::{Tree, TreeChange};
pub use view::{Counts, Record, Records, View};

/// A failure of the storage engine, as a client sees it.
pub(crate) fn failed(error: trees::Failure) -> error::Error {
    if error.is::<trees::Damage>() {
        return error::Code::DataCorruptionDetected
            .error(format!("the store is damaged: {error}; restore it from a backup"));
    }
    error::Code::InternalError.error(format!("the storage engine failed: {error}"))
}

#[cfg(test)]
mod tests;
