//! The bounds of the document itself.

use super::violation;
use crate::policy::Policy;
use bson::RawDocument;
use error::Result;

/// Refuses a document that has grown past its bound. That it passes the mark for
/// warnings is told by whoever commits it: here it may still come to nothing.
pub fn check(
    policy: &Policy,
    document: &RawDocument,
    before_bytes: Option<usize>,
    bytes: usize,
) -> Result<()> {
    let grown = before_bytes.is_none_or(|before| bytes > before);
    match policy.document.max_bytes {
        Some(max) if bytes > max && grown => {
            Err(violation::document_too_large(document, max, bytes))
        }
        _ => Ok(()),
    }
}
