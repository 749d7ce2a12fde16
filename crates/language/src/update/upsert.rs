//! The beginnings of a document that an upsert inserts: what its filter says a
//! field equals.

use super::operators::Set;
use super::tree::{self, Object};
use super::walk::{self, Facts};
use crate::query::Filter;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, Path, elements};

/// The values that the filter demands by equality, in the order of their paths.
/// A replacement takes only the `_id`, which must then be given whole.
pub fn document_of(filter: &Filter, only_id: bool) -> Result<RawDocumentBuf> {
    let mut found = if only_id { filter.equalities_of("_id")? } else { filter.equalities()? };
    if let Some((path, _)) = found.iter().find(|(path, _)| only_id && path.len() > 1) {
        return Err(Code::NotExactValueField.error(format!(
            "field at '_id' must be exactly specified, field at sub-path '{path}'found"
        )));
    }
    found.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
    let mut document = RawDocumentBuf::new();
    for (path, value) in found {
        document = set(document, path, value)?;
    }
    Ok(document)
}

/// Sets one value at a dotted path, as `$set` would in a document to insert.
fn set(document: RawDocumentBuf, path: &Path, value: RawBsonRef<'_>) -> Result<RawDocumentBuf> {
    let mut argument = DocumentWriter::new();
    argument.append("", value);
    let argument = argument.finish();
    let Some(field) = elements(&argument).next() else { return Ok(document) };
    let mut root = Object::default();
    tree::insert(&mut root, path, &[], Arc::new(Set::new(field)))?;
    let after = walk::apply(&root, Facts { before: &document, insert: true, matched: None })?;
    Ok(after.unwrap_or(document))
}
