//! Change streams: what was written, told in the order of commits.
//!
//! A write tells of itself with an `Event` in its commit; the store's log keeps
//! it (`storage::log`). A `Stream` reads the log and shows each event that its
//! client watches as MongoDB shows it.

mod definition;
mod event;
mod log;
mod options;
mod shape;
mod stream;
#[cfg(test)]
mod tests;
mod token;

pub use definition::{
    altered, created, database_dropped, dropped, index_altered, index_dropped, indexes_created,
    renamed,
};
pub use event::{Event, EventOperation};
pub use options::StreamOptions;
pub use stream::Stream;
pub use token::{Token, TokenKind};

use crate::catalog::Collection;
use command::Namespace;
use value::element::get;

/// Databases that no stream watches.
const UNWATCHED_DATABASES: &[&str] = &["admin", "config", "local"];

/// Whether a stream may watch a collection.
pub fn is_watched(namespace: &Namespace) -> bool {
    is_watched_database(&namespace.database)
        && !namespace.is_system()
        && !namespace.collection.starts_with('$')
}

pub fn is_watched_database(database: &str) -> bool {
    !UNWATCHED_DATABASES.contains(&database)
}

/// Whether documents of a collection are kept as they were before and after
/// each change.
pub fn keeps_images(collection: &Collection) -> bool {
    let images = get(&collection.options, "changeStreamPreAndPostImages");
    let images = images.and_then(|images| images.as_document());
    images.is_some_and(|images| crate::catalog::flag(images, "enabled"))
}
