//! The error of a key that is taken already.

use crate::catalog::{Collection, Index, IndexKind};
use crate::index::extract;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error};
use value::DocumentWriter;
use value::key::Key;

/// What the message shows of a key, each long text in it cut as in MongoDB.
const MESSAGE_KEY_BYTES_MAX: usize = 64 * 1024;
/// A larger `keyValue` is left out, so that the reply stays below what a document may weigh.
const KEY_VALUE_BYTES_MAX: usize = 15 * 1024 * 1024;

/// E11000 with the key that was found twice, as MongoDB words it.
pub fn duplicate(
    collection: &Collection,
    index: &Index,
    key: &Key,
    document: &RawDocument,
) -> Error {
    let values = decoded(index, key).unwrap_or_else(|| extracted(index, document));
    let message = format!(
        "E11000 duplicate key error collection: {} index: {} dup key: {}",
        collection.namespace,
        index.name,
        value::text::clipped(&values, MESSAGE_KEY_BYTES_MAX)
    );
    let error =
        Code::DuplicateKey.error(message).detail("keyPattern", index.key_pattern().to_owned());
    match values.as_bytes().len() <= KEY_VALUE_BYTES_MAX {
        true => error.detail("keyValue", values),
        false => error,
    }
}

/// The values of the key, where its bytes hold them: of an array, the element
/// that was there already.
fn decoded(index: &Index, key: &Key) -> Option<RawDocumentBuf> {
    let plain = |kind| matches!(kind, IndexKind::Ascending | IndexKind::Descending);
    if index.collator.is_some() || !index.fields.iter().all(|field| plain(field.kind)) {
        return None;
    }
    let directions: Vec<_> = index.fields.iter().map(|field| field.direction()).collect();
    let values = value::key::decode(&key.bytes, &key.types, &directions)?;
    let mut writer = DocumentWriter::new();
    for (field, value) in index.fields.iter().zip(&values) {
        writer.append(field.path.as_str(), value.as_raw_bson_ref());
    }
    Some(writer.finish())
}

/// The indexed fields of the document, missing ones as null.
fn extracted(index: &Index, document: &RawDocument) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    for field in &index.fields {
        let found = extract::single(&field.path, document).ok().flatten();
        writer.append(field.path.as_str(), found.unwrap_or(RawBsonRef::Null));
    }
    writer.finish()
}
