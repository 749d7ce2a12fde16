//! The error of a key that is taken already.

use crate::catalog::{Collection, Index};
use crate::index::extract;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error};
use value::DocumentWriter;

/// E11000 with the key that was found twice, as MongoDB words it.
pub fn duplicate(collection: &Collection, index: &Index, document: &RawDocument) -> Error {
    let values = key_value(index, document);
    let message = format!(
        "E11000 duplicate key error collection: {} index: {} dup key: {}",
        collection.namespace,
        index.name,
        value::text::document(&values)
    );
    Code::DuplicateKey
        .error(message)
        .detail("keyPattern", index.key_pattern().to_owned())
        .detail("keyValue", values)
}

/// The indexed fields of the document, missing ones as null.
fn key_value(index: &Index, document: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    for field in &index.fields {
        let found = extract::single(&field.path, document).ok().flatten();
        writer.append(field.path.as_str(), found.unwrap_or(RawBsonRef::Null));
    }
    writer.finish()
}
