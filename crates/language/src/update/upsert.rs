//! The beginnings of a document that an upsert inserts: what its filter says a
//! field equals.

use super::operators::Set;
use super::tree::{self, Object};
use super::walk::{self, Facts};
use crate::query::{Filter, Node, Predicate};
use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use std::collections::BTreeMap;
use std::sync::Arc;
use value::{DocumentWriter, Path, elements};

/// The values that the filter demands by equality. A replacement takes only the
/// `_id` from it, which must then be given whole.
pub fn document_of(filter: &Filter, only_id: bool) -> Result<RawDocumentBuf> {
    let mut found = BTreeMap::new();
    collect(&filter.root, only_id, &mut found)?;
    let mut document = RawDocumentBuf::new();
    // A path below another was given after it and is set inside its value.
    for (path, value) in found {
        document = set(document, path, value.as_raw_bson_ref())?;
    }
    Ok(document)
}

type Equalities<'f> = BTreeMap<&'f str, &'f RawBson>;

fn collect<'f>(node: &'f Node, only_id: bool, found: &mut Equalities<'f>) -> Result<()> {
    match node {
        Node::And(nodes) => nodes.iter().try_for_each(|node| collect(node, only_id, found)),
        Node::Or(nodes) if nodes.len() == 1 => collect(&nodes[0], only_id, found),
        Node::Field(path, Predicate::Eq(value)) => equality(path, value, only_id, found),
        Node::Field(path, Predicate::In(list))
            if list.values.len() == 1 && list.patterns.is_empty() =>
        {
            equality(path, &list.values[0], only_id, found)
        }
        _ => Ok(()),
    }
}

fn equality<'f>(
    path: &'f Path,
    value: &'f RawBson,
    only_id: bool,
    found: &mut Equalities<'f>,
) -> Result<()> {
    if only_id {
        if path.component(0) != "_id" {
            return Ok(());
        }
        if path.len() > 1 {
            return Err(Code::NotExactValueField.error(format!(
                "field at '_id' must be exactly specified, field at sub-path '{}'found",
                path.as_str()
            )));
        }
    }
    let text = path.as_str();
    if found.contains_key(text) {
        return Err(not_single(format!("path '{text}' is matched twice")));
    }
    let parent =
        text.match_indices('.').map(|(at, _)| &text[..at]).rfind(|p| found.contains_key(p));
    if let Some(parent) = parent {
        return Err(not_single(format!("both paths '{text}' and '{parent}' are matched")));
    }
    found.insert(text, value);
    Ok(())
}

fn not_single(why: String) -> error::Error {
    Code::NotSingleValueField.error(format!("cannot infer query fields to set, {why}"))
}

/// Sets one value at a dotted path, as `$set` would in a document to insert.
fn set(document: RawDocumentBuf, path: &str, value: RawBsonRef<'_>) -> Result<RawDocumentBuf> {
    let mut argument = DocumentWriter::new();
    argument.append("", value);
    let argument = argument.finish();
    let Some(field) = elements(&argument).next() else { return Ok(document) };
    let mut root = Object::default();
    tree::insert(&mut root, &Path::new(path), &[], Arc::new(Set::new(field)))?;
    let after = walk::apply(&root, Facts { before: &document, insert: true, matched: None })?;
    Ok(after.unwrap_or(document))
}
