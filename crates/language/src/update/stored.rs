//! The rules a whole document obeys before it is stored, beside its size.

use crate::describe;
use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use value::check::DEPTH_MAX;
use value::{DocumentWriter, Element, element, elements};

/// Checks what a replacement, a pipeline or an upsert made.
pub fn check(document: &RawDocument) -> Result<()> {
    for field in elements(document) {
        if field.key == "_id" {
            check_id(field)?;
        }
        if super::operator::depth_below(field) >= DEPTH_MAX {
            return Err(too_deep());
        }
    }
    Ok(())
}

/// `_id` may be anything but an array, a regular expression or undefined, and
/// holds no field whose name begins with `$`.
fn check_id(id: Element<'_>) -> Result<()> {
    match id.kind {
        ElementType::Array | ElementType::RegularExpression | ElementType::Undefined => {
            Err(Code::InvalidIdField.error(format!(
                "The '_id' value cannot be of type {}",
                describe::type_name(id.kind)
            )))
        }
        ElementType::EmbeddedDocument => check_no_dollar(id),
        _ => Ok(()),
    }
}

fn check_no_dollar(container: Element<'_>) -> Result<()> {
    for child in container.children() {
        let is_field = container.kind == ElementType::EmbeddedDocument;
        let reference = matches!(child.key, "$ref" | "$id" | "$db");
        if is_field && child.key.starts_with('$') && !reference {
            return Err(Code::DollarPrefixedFieldName.error(format!(
                "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
                child.key
            )));
        }
        check_no_dollar(child)?;
    }
    Ok(())
}

/// The same document, `_id` first.
pub fn id_first(document: RawDocumentBuf) -> RawDocumentBuf {
    let Some(id) = element::get(&document, "_id") else { return document };
    if elements(&document).next().is_some_and(|first| first.key == "_id") {
        return document;
    }
    with_id(id, &document)
}

/// `_id`, then the document's other fields.
pub fn with_id(id: Element<'_>, document: &RawDocument) -> RawDocumentBuf {
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len() + id.bytes.len() + 8);
    out.copy_as("_id", id);
    for field in elements(document).filter(|field| field.key != "_id") {
        out.copy(field);
    }
    out.finish()
}

pub fn too_deep() -> Error {
    Code::Overflow.error(format!("Document exceeds maximum nesting depth of {DEPTH_MAX}"))
}

/// A field of the document itself may not begin with `$`. The parts of a DBRef
/// may, in their order; alone each has its own error.
pub fn dollar_field(name: &str) -> Error {
    match name {
        "$db" => {
            Code::InvalidDBRef.error("Found $db field without a $id before it, which is invalid.")
        }
        "$id" => {
            Code::InvalidDBRef.error("Found $id field without a $ref before it, which is invalid.")
        }
        "$ref" => Code::InvalidDBRef.error("The DBRef $ref field must be followed by a $id field"),
        _ => Code::DollarPrefixedFieldName.error(format!(
            "The dollar ($) prefixed field '{name}' in '{name}' is not allowed in the context of \
             an update's replacement document. Consider using an aggregation pipeline with \
             $replaceWith."
        )),
    }
}
