//! The bounds of the document itself.

use super::violation;
use crate::policy::Policy;
use bson::RawDocument;
use error::Result;

/// Refuses a document that has grown past its bound, and logs one that passes the
/// mark for warnings.
pub fn check(
    policy: &Policy,
    document: &RawDocument,
    before_bytes: Option<usize>,
    bytes: usize,
) -> Result<()> {
    let grown = before_bytes.is_none_or(|before| bytes > before);
    if let Some(max) = policy.document.max_bytes
        && bytes > max
        && grown
    {
        return Err(violation::document_too_large(document, max, bytes));
    }
    if let Some(warn) = policy.document.warn_bytes
        && bytes >= warn
        && before_bytes.is_none_or(|before| before < warn)
    {
        let id = value::element::get(document, "_id").map(|id| value::text::value(id.value()));
        tracing::warn!(
            namespace = %policy.namespace,
            id = id.as_deref().unwrap_or("none"),
            bytes,
            warn_bytes = warn,
            max_bytes = policy.document.max_bytes,
            "a document has grown past its policy's warn_bytes"
        );
    }
    Ok(())
}
