//! `$mergeObjects`: documents merged into one.

use bson::{RawDocument, RawDocumentBuf};
use value::DocumentWriter;
use value::element::{elements, get};

/// The fields of both; a field of the second takes the place of the first's.
pub fn merge(first: &RawDocument, second: &RawDocument) -> RawDocumentBuf {
    if first.is_empty() {
        return second.to_owned();
    }
    let mut out = DocumentWriter::new();
    for element in elements(first) {
        out.copy(get(second, element.key).unwrap_or(element));
    }
    for element in elements(second) {
        if get(first, element.key).is_none() {
            out.copy(element);
        }
    }
    out.finish()
}
