//! The beginnings of a document that an upsert inserts: what its filter says a
//! field equals.

use super::operators::Set;
use super::sources::Found;
use super::tree::{self, Object};
use super::walk::{self, Facts};
use crate::query::Filter;
use bson::RawDocumentBuf;
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, elements};

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
    let mut root = Object::default();
    for (path, value) in found {
        let mut argument = DocumentWriter::new();
        argument.append("", value);
        let argument = argument.finish();
        if let Some(field) = elements(&argument).next() {
            tree::insert(&mut root, path, &[], Arc::new(Set::new(field)))?;
        }
    }
    let document = RawDocumentBuf::new();
    let facts =
        Facts { before: &document, insert: true, matched: None, sources: &Found::default() };
    let made = walk::apply(&root, facts)?;
    Ok(made.unwrap_or(document))
}
