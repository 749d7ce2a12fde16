//! The sizes a document may have.

use error::{Code, Error};

/// The largest document a client may store.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub fn insert_too_large(size: usize) -> Error {
    Code::BSONObjectTooLarge.error(format!(
        "object to insert too large. size in bytes: {size}, max size: {DOCUMENT_BYTES_MAX}"
    ))
}

pub fn update_too_large() -> Error {
    Code::location(17419)
        .error(format!("Resulting document after update is larger than {DOCUMENT_BYTES_MAX}"))
}

pub fn upsert_too_large() -> Error {
    Code::location(17420).error(format!("Document to upsert is larger than {DOCUMENT_BYTES_MAX}"))
}
