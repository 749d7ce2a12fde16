//! The sizes a document may have.

use bson::RawDocument;
use error::{Code, Error, Result};
use value::check::{DEPTH_MAX, is_deeper};

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

/// Of a new document; updates check what they make of one.
pub fn check_depth(document: &RawDocument) -> Result<()> {
    match is_deeper(document, DEPTH_MAX) {
        true => Err(Code::Overflow.error(format!(
            "cannot insert document because it exceeds {DEPTH_MAX} levels of nesting"
        ))),
        false => Ok(()),
    }
}
