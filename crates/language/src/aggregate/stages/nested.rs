//! Values at paths that go through documents only. What stands in the way of a
//! path is replaced by a document, an array too.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use value::element::{elements, get};
use value::{DocumentWriter, Path};

/// The value at a path that goes through documents only.
pub fn find<'a>(path: &Path, document: &'a RawDocument) -> Option<RawBsonRef<'a>> {
    let mut current = RawBsonRef::Document(document);
    for name in path.components() {
        let RawBsonRef::Document(document) = current else { return None };
        current = get(document, name)?.value();
    }
    Some(current)
}

/// A document with the value at a path replaced, added, or (`None`) removed.
pub fn set(
    document: &RawDocument,
    path: &Path,
    at: usize,
    value: Option<RawBsonRef<'_>>,
) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    let mut seen = false;
    let name = path.component(at);
    let last = at + 1 == path.len();
    for element in elements(document) {
        if seen || element.key != name {
            out.copy(element);
            continue;
        }
        seen = true;
        if last {
            if let Some(value) = value {
                out.append(name, value);
            }
        } else if let RawBsonRef::Document(inner) = element.value() {
            let inner = set(inner, path, at + 1, value);
            out.append(name, RawBsonRef::Document(&inner));
        } else if value.is_some() {
            let inner = set(&RawDocumentBuf::new(), path, at + 1, value);
            out.append(name, RawBsonRef::Document(&inner));
        } else {
            out.copy(element);
        }
    }
    if let (false, Some(value)) = (seen, value) {
        if last {
            out.append(name, value);
        } else {
            let inner = set(&RawDocumentBuf::new(), path, at + 1, Some(value));
            out.append(name, RawBsonRef::Document(&inner));
        }
    }
    out.finish()
}
