//! The bounds of the document itself.

use super::violation;
use crate::policy::Policy;
use bson::RawDocument;
use error::Result;

/// Refuses a document that has grown past its bound. That it passes the mark for
/// warnings is logged at the commit: until then it may be rolled back.
pub fn check(
    policy: &Policy,
    document: &RawDocument,
    bytes: usize,
    before_bytes: impl FnOnce() -> Option<usize>,
) -> Result<()> {
    match policy.document.max_bytes {
        Some(max) if bytes > max && before_bytes().is_none_or(|before| bytes > before) => {
            Err(violation::document_too_large(document, max, bytes))
        }
        _ => Ok(()),
    }
}
